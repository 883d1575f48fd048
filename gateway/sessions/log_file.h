#ifndef BEIGE_GATEWAY_SESSIONS_LOG_FILE_H_
#define BEIGE_GATEWAY_SESSIONS_LOG_FILE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace beige::sessions {

// Of an empty file beside a session's: detached prompts of it wait or run, so the next start of the gateway opens it.
inline constexpr std::string_view kMark = ".waits";

// A session's file, 0600: whole lines behind whole lines. Append and marks on the core thread; Sync on another.
class LogFile {
 public:
  static Result<std::shared_ptr<LogFile>> Create(const std::string& path);  // Conflict when there is one
  // A torn last line, of a crash, gets its newline; it was never acknowledged.
  static Result<std::shared_ptr<LogFile>> Open(const std::string& path);

  // The whole line or nothing of it.
  Result<> Append(std::string_view line);
  int64_t size() const { return size_; }
  // The mark is there before what it is for is written, and goes after that has ended: one too many costs a look, one too few a prompt.
  Result<> Mark();
  void Unmark();
  bool marked() const { return marked_; }
  void Sync();  // fdatasync, when something was written since the last one

 private:
  LogFile(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  const std::string path_;
  const UniqueFd fd_;
  int64_t size_ = 0;
  bool marked_ = false;
  std::atomic<bool> dirty_{false};
};

}  // namespace beige::sessions

#endif
