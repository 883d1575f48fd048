#ifndef BEIGE_GATEWAY_CALLS_EXEC_RULES_H_
#define BEIGE_GATEWAY_CALLS_EXEC_RULES_H_

#include "base/result.h"
#include "gateway/calls/call.h"

namespace beige {

// What every surface keeps to that starts a command in a sandbox: a program, no NUL, at most 128 KiB a word and 1 MiB together,
// environment entries NAME=VALUE. Invalid, naming the argument or variable that is wrong.
Result<> CheckExec(const CallRequest& call);

}  // namespace beige

#endif
