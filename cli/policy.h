#ifndef BEIGE_CLI_POLICY_H_
#define BEIGE_CLI_POLICY_H_

#include <string>
#include <vector>

#include "cli/globals.h"

namespace beige::cli {

struct PolicyExplainOptions {
  std::string agent;
  std::string tool;               // "exec" is the owner's exec
  std::vector<std::string> args;  // of the call; no rule looks at them yet
};
// `beige policy explain NAME TOOL [ARGS...]`: what the running gateway would decide about that call of the agent's, and by which rule;
// asked of the gateway itself, which answers with the policy that is in force. Nothing is run and nothing recorded. 0 allow, 4 deny,
// 3 no such agent, 5 the gateway doesn't answer.
int RunPolicyExplain(const Globals& globals, const PolicyExplainOptions& options);

}  // namespace beige::cli

#endif
