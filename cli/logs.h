#ifndef BEIGE_CLI_LOGS_H_
#define BEIGE_CLI_LOGS_H_

#include <string>
#include <vector>

#include "cli/globals.h"

namespace beige::cli {

struct LogsOptions {
  std::string name;  // an agent: only lines that name it; "" = all
  int lines = 200;
  bool follow = false;
};
// `beige logs`: the logs of supervisor, operator and gateway as one, in order of time; -o json prints them as they stand.
int RunLogs(const Globals& globals, const LogsOptions& options);

struct EventsOptions {
  std::string name;
  int lines = 100;
  bool watch = false;
};
// `beige events`: what the operator did and saw, per agent.
int RunEvents(const Globals& globals, const EventsOptions& options);

// The last `count` events of one agent, raw JSON lines, oldest first.
std::vector<std::string> EventsOf(const HomePaths& paths, const AgentKey& key, size_t count);
std::string FormatEvent(const std::string& line);
std::string FormatLogLine(const std::string& process, const std::string& line);

}  // namespace beige::cli

#endif
