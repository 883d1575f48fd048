#ifndef BEIGE_CLI_HOME_AGENTS_H_
#define BEIGE_CLI_HOME_AGENTS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/agent.h"
#include "api/load.h"
#include "api/paths.h"
#include "base/result.h"
#include "cli/watch.h"

namespace beige::cli {

// One document of a file in agents.d.
struct Definition {
  std::string file;            // absolute
  size_t documents = 1;        // in that file
  std::optional<Agent> agent;  // absent when it is invalid
  std::vector<Problem> problems;
};

// One agent as the home knows it: what the files want, and what the operator last said.
struct AgentView {
  Agent agent;                      // spec of the file where there is a valid one, status of the operator
  std::optional<Definition> definition;
  bool has_status = false;
  bool observed = false;            // the status speaks of the spec that the file has now
  bool removing() const { return has_status && !definition; }
};

// All files of agents.d in order of name; hidden ones and other endings than .yaml, .yml and .json are not Agents.
std::vector<std::string> AgentFiles(const HomePaths& paths);

// Definitions by key; of two with one key the first file's counts. `orphans` takes the problems of files that name no agent.
std::map<AgentKey, Definition> ReadDefinitions(const HomePaths& paths, std::vector<Problem>* orphans = nullptr);

// Everything joined, sorted by namespace and name.
std::vector<AgentView> ReadAgents(const HomePaths& paths);
std::optional<AgentView> ReadAgent(const HomePaths& paths, const AgentKey& key);

// Watches all that ReadAgents reads (call before each reading).
void WatchAgents(Watch& watch, const HomePaths& paths);

// What a person asks first: is it ready, and if not, why.
struct Summary {
  std::string ready;    // True | False | Unknown
  std::string reason;
  std::string message;
};
Summary SummaryOf(const AgentView& view);

// The view as the JSON of `get -o json`: the Agent with `local`.
std::string ToJson(const HomePaths& paths, const AgentView& view, int indent = 2);

}  // namespace beige::cli

#endif
