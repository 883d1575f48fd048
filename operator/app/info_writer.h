#ifndef BEIGE_OPERATOR_APP_INFO_WRITER_H_
#define BEIGE_OPERATOR_APP_INFO_WRITER_H_

#include <map>
#include <optional>

#include "api/agent.h"
#include "base/guarded.h"
#include "operator/store/operator_info.h"

namespace beige {

// Keeps operator.json as things are; written only when something in it changed.
class InfoWriter {
 public:
  explicit InfoWriter(const HomePaths& paths) : paths_(paths) {}

  // Thread-safe; fed by the status writers.
  void Saw(const Agent& agent);
  void Gone(const AgentKey& key);

  void Write(OperatorInfo info);  // main loop only; fills in the counts

 private:
  const HomePaths& paths_;
  Guarded<std::map<AgentKey, bool>> ready_;
  std::optional<OperatorInfo> last_;
};

}  // namespace beige

#endif
