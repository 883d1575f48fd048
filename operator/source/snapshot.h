#ifndef BEIGE_OPERATOR_SOURCE_SNAPSHOT_H_
#define BEIGE_OPERATOR_SOURCE_SNAPSHOT_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/agent.h"
#include "api/load.h"

namespace beige {

// What the source says about one agent.
struct SourceAgent {
  std::optional<Agent> agent;      // the newest valid version; absent if there never was one
  std::vector<Problem> problems;   // of the newest version; empty = `agent` is the newest
  std::vector<Problem> conflicts;  // other files that define the same agent; they are refused
  std::string file;
  bool operator==(const SourceAgent&) const = default;
};

// Everything at once: what is not in it is to go.
struct Snapshot {
  std::map<AgentKey, SourceAgent> agents;
  std::vector<Problem> problems;  // all of them, those of files without any agent included
  std::string notice;             // a large removal that is being held, for a person; "" = none
  bool operator==(const Snapshot&) const = default;
};

// What an earlier run of the operator accepted: keeps agents through a restart with a file that is broken by then.
struct KnownAgent {
  Agent agent;
  std::string file;
};

}  // namespace beige

#endif
