#ifndef BEIGE_OPERATOR_APP_ADOPT_H_
#define BEIGE_OPERATOR_APP_ADOPT_H_

#include "api/paths.h"
#include "base/result.h"

namespace beige {

// `beige-operator --adopt`: a copied or moved home is the one that its id and so its sandboxes belong to. Says on stdout what was done.
// Needs no lock: an operator of a copied home never writes the id, and reads it once.
Result<> AdoptHome(const HomePaths& paths);

}  // namespace beige

#endif
