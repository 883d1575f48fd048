#ifndef BEIGE_GATEWAY_APP_CELL_CHECK_H_
#define BEIGE_GATEWAY_APP_CELL_CHECK_H_

#include <string>

#include "api/paths.h"
#include "base/result.h"

namespace beige {

// `beige-gateway --check-cell`, for `beige doctor`: makes one tool cell as it would for a granted tool, waits until its runner speaks, and
// ends it. Unavailable with the reason when this machine (or the view that this process has of it) makes none. Writes only beneath
// data/gateway of the home, and removes that.
Result<> CheckCell(const HomePaths& paths);

}  // namespace beige

#endif
