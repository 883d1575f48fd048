#include "operator/store/event_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/files.h"
#include "base/log.h"

namespace beige {

EventLog::EventLog(HomePaths paths, const Clock& clock, int64_t max_bytes)
    : paths_(std::move(paths)), clock_(clock), max_bytes_(max_bytes) {}

bool EventLog::Admit(OfAgent& of_agent, const std::string& what, SteadyTime now) {
  std::erase_if(of_agent.recent, [&](const auto& item) { return now - item.second >= kQuiet; });
  if (of_agent.recent.contains(what)) return false;
  if (now - of_agent.minute >= std::chrono::minutes(1)) {
    of_agent.minute = now;
    of_agent.in_minute = 0;
  }
  if (++of_agent.in_minute > kBurst) return false;
  of_agent.recent[what] = now;
  return true;
}

void EventLog::Record(const AgentKey& key, EventType type, const std::string& reason, const std::string& message) {
  const nlohmann::json event = {{"ts", FormatTime(clock_.WallNow())}, {"namespace", key.namespace_}, {"agent", key.name},
                                {"type", type == EventType::kNormal ? "Normal" : "Warning"}, {"reason", reason}, {"message", message}};
  const std::string line = event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::lock_guard lock(mutex_);
  if (Admit(agents_[key], reason + "\n" + message, clock_.Now())) Append(line);
}

void EventLog::Append(const std::string& line) {
  const std::string file = paths_.EventsFile();
  if (fd_ && bytes_ + static_cast<int64_t>(line.size()) > max_bytes_) {
    ::rename(file.c_str(), (file + ".1").c_str());
    fd_.Reset();
  }
  if (!fd_) {
    if (auto made = MakeDirs(paths_.EventsDir(), 0700); !made) return LogWarn("event not written: " + made.error().message);
    fd_.Reset(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd_) return LogWarn("event not written: open " + file + ": " + std::strerror(errno));
    struct stat info {};
    bytes_ = ::fstat(fd_.get(), &info) == 0 ? info.st_size : 0;
  }
  if (::write(fd_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    LogWarn("event not written: " + file + ": " + std::strerror(errno));
    fd_.Reset();
    return;
  }
  bytes_ += static_cast<int64_t>(line.size());
}

void EventLog::Forget(const AgentKey& key) {
  std::lock_guard lock(mutex_);
  agents_.erase(key);
}

}  // namespace beige
