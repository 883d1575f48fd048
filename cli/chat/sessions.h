#ifndef BEIGE_CLI_CHAT_SESSIONS_H_
#define BEIGE_CLI_CHAT_SESSIONS_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/globals.h"

namespace beige::cli {

struct SessionsOptions {
  std::string name;      // of the agent
  std::string id;
  std::string model;
  std::string thinking;
  int64_t limit = 0;     // messages of `show`; 0 = all
};
// The commands of `beige sessions`; each asks the running gateway.
int RunSessionsList(const Globals& globals, const SessionsOptions& options);
int RunSessionsShow(const Globals& globals, const SessionsOptions& options);
int RunSessionsNew(const Globals& globals, const SessionsOptions& options);
int RunSessionsDelete(const Globals& globals, const SessionsOptions& options);
int RunSessionsAbort(const Globals& globals, const SessionsOptions& options);
int RunSessionsCompact(const Globals& globals, const SessionsOptions& options);
int RunSessionsModel(const Globals& globals, const SessionsOptions& options);

// A summary is written by a model, which takes its time.
inline constexpr auto kCompactTimeout = std::chrono::minutes(30);

}  // namespace beige::cli

#endif
