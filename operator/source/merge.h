#ifndef BEIGE_OPERATOR_SOURCE_MERGE_H_
#define BEIGE_OPERATOR_SOURCE_MERGE_H_

#include <map>
#include <string>

#include "operator/source/file_table.h"
#include "operator/source/snapshot.h"

namespace beige {

// Joins the views of all files to one set of agents. No I/O. Remembers who holds a name (the first file that had it keeps it, a second one
// is refused) and the last valid version of each agent.
class Merger {
 public:
  void Seed(const KnownAgent& known);
  Snapshot Merge(const std::map<std::string, FileView>& views);
  // Forgets agents that are not in what was delivered in the end (a held removal is not one yet).
  void Forget(const Snapshot& delivered);

 private:
  std::map<AgentKey, std::string> owners_;
  std::map<AgentKey, Agent> last_good_;
};

}  // namespace beige

#endif
