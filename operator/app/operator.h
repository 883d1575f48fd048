#ifndef BEIGE_OPERATOR_APP_OPERATOR_H_
#define BEIGE_OPERATOR_APP_OPERATOR_H_

#include <string>

#include "base/result.h"

namespace beige {

struct OperatorOptions {
  std::string home;
  bool adopt = false;             // the home is no copy any more; note it and end
  bool delete_sandboxes = false;  // remove this home's sandboxes and end
};

// All of beige-operator, wired from top to bottom. Returns at SIGTERM or SIGINT; sandboxes go on.
Result<> RunOperator(const OperatorOptions& options);

}  // namespace beige

#endif
