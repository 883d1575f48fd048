#ifndef BEIGE_OPERATOR_STORE_EVENT_LOG_H_
#define BEIGE_OPERATOR_STORE_EVENT_LOG_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "api/agent_ref.h"
#include "api/paths.h"
#include "base/clock.h"
#include "base/unique_fd.h"

namespace beige {

enum class EventType { kNormal, kWarning };

// data/operator/events/events.jsonl, one JSON object a line:
//   {"ts":"...","namespace":"default","agent":"a1","type":"Normal","reason":"SandboxStarted","message":"..."}
// The same event of an agent within kQuiet is written once; a storm of different ones is cut at kBurst a minute. At `max_bytes` the file
// is renamed to events.jsonl.1 (one is kept). Thread-safe. Events are for people: one that can't be written is dropped with a log line.
class EventLog {
 public:
  static constexpr std::chrono::seconds kQuiet{60};
  static constexpr int kBurst = 30;

  EventLog(HomePaths paths, const Clock& clock, int64_t max_bytes = 4 << 20);
  void Record(const AgentKey& key, EventType type, const std::string& reason, const std::string& message);
  void Forget(const AgentKey& key);  // the agent is gone: its bookkeeping goes

 private:
  struct OfAgent {
    std::map<std::string, SteadyTime> recent;  // reason and message -> when
    SteadyTime minute{};
    int in_minute = 0;
  };
  bool Admit(OfAgent& of_agent, const std::string& what, SteadyTime now);
  void Append(const std::string& line);

  const HomePaths paths_;
  const Clock& clock_;
  const int64_t max_bytes_;
  // Held while a line is appended: rotation and appending must not mix, and both are short local writes.
  std::mutex mutex_;
  std::map<AgentKey, OfAgent> agents_;
  UniqueFd fd_;
  int64_t bytes_ = 0;
};

}  // namespace beige

#endif
