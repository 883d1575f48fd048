#include "gateway/sessions/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/log.h"

namespace beige::sessions {
namespace {
Result<UniqueFd> OpenAt(const std::string& path, int more) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | more, 0600));
  if (!fd) {
    if (errno == EEXIST) return Fail(Code::kConflict, path + " exists");
    return FailErrno(errno, "open " + path);
  }
  return fd;
}
}  // namespace

Result<std::shared_ptr<LogFile>> LogFile::Create(const std::string& path) {
  BEIGE_ASSIGN(UniqueFd fd, OpenAt(path, O_CREAT | O_EXCL));
  return std::shared_ptr<LogFile>(new LogFile(path, std::move(fd)));
}

Result<std::shared_ptr<LogFile>> LogFile::Open(const std::string& path) {
  BEIGE_ASSIGN(UniqueFd fd, OpenAt(path, 0));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return FailErrno(errno, "stat " + path);
  char last = '\n';
  if (info.st_size > 0 && ::pread(fd.get(), &last, 1, info.st_size - 1) != 1) return FailErrno(errno, "read " + path);
  std::shared_ptr<LogFile> file(new LogFile(path, std::move(fd)));
  file->size_ = info.st_size;
  if (last != '\n') BEIGE_TRY(file->Append("\n"));
  file->marked_ = Exists(path + std::string(kMark));
  return file;
}

Result<> LogFile::Append(std::string_view line) {
  struct stat before {};
  if (::fstat(fd_.get(), &before) != 0) return FailErrno(errno, "stat " + path_);
  if (before.st_nlink == 0) return Fail(Code::kNotFound, path_ + " was removed");
  ssize_t n = 0;
  do {
    n = ::write(fd_.get(), line.data(), line.size());
  } while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(line.size())) {
    size_ = before.st_size + n;
    dirty_.store(true, std::memory_order_release);
    return {};
  }
  const int reason = n < 0 ? errno : ENOSPC;
  // What was written of it goes, so that the next line does not stick to it.
  if (n > 0 && ::ftruncate(fd_.get(), before.st_size) != 0) LogError("session file has a torn line", {{"file", path_}});
  return FailErrno(reason, "write " + path_);
}

Result<> LogFile::Mark() {
  if (marked_) return {};
  const std::string mark = path_ + std::string(kMark);
  const UniqueFd fd(::open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return FailErrno(errno, "make " + mark);
  marked_ = true;
  return {};
}

void LogFile::Unmark() {
  if (!marked_) return;
  marked_ = false;
  if (auto done = RemoveFile(path_ + std::string(kMark)); !done) LogWarn("mark of a session not removed", {{"error", done.error().message}});
}

void LogFile::Sync() {
  if (dirty_.exchange(false, std::memory_order_acq_rel) && ::fdatasync(fd_.get()) != 0) {
    LogError("session file not synced to the disk", {{"file", path_}});
    dirty_.store(true, std::memory_order_release);
  }
}

}  // namespace beige::sessions
