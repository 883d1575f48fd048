#ifndef BEIGE_CLI_CHAT_PROMPT_H_
#define BEIGE_CLI_CHAT_PROMPT_H_

#include <string>
#include <vector>

#include "cli/globals.h"

namespace beige::cli {

struct PromptOptions {
  std::string name;
  std::string text;      // "-" or "" = stdin
  std::string session;
  std::string model;
  std::string thinking;
  std::vector<std::string> images;  // files
  std::string timeout = "60s";      // for the agent to be ready
  bool verbose = false;
};
// `beige prompt NAME TEXT`: the final text on stdout and nothing else. 0 when the turn came to its end; 130 when Ctrl-C aborted it.
int RunPrompt(const Globals& globals, const PromptOptions& options);

}  // namespace beige::cli

#endif
