#include "operator/app/info_writer.h"

#include "base/log.h"

namespace beige {

void InfoWriter::Saw(const Agent& agent) {
  const Condition* ready = FindCondition(agent.status.conditions, "Ready");
  ready_.With([&](auto& all) { all[agent.key()] = ready && ready->status == Truth::kTrue; });
}

void InfoWriter::Gone(const AgentKey& key) {
  ready_.With([&](auto& all) { all.erase(key); });
}

void InfoWriter::Write(OperatorInfo info) {
  ready_.With([&](const auto& all) {
    for (const auto& [key, ready] : all) info.agents_ready += ready ? 1 : 0;
  });
  if (last_ == info) return;
  if (Result<> written = WriteOperatorInfo(paths_, info); !written) {
    LogError("operator.json not written", {{"why", written.error().message}});
    return;
  }
  last_ = std::move(info);
}

}  // namespace beige
