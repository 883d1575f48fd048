#ifndef BEIGE_API_EXPAND_H_
#define BEIGE_API_EXPAND_H_

#include <string>
#include <string_view>

#include "api/load.h"
#include "base/result.h"

namespace beige {

// `text` with ${NAME} replaced by what `lookup` answers and $$ by one $. NotFound, whose message is the bare name, for a variable that
// is not set; Invalid for a $ that is neither. Neither message holds a value.
Result<std::string> Expand(std::string_view text, const EnvLookup& lookup);

}  // namespace beige

#endif
