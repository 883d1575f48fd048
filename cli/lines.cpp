#include "cli/lines.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace beige::cli {
namespace {
constexpr size_t kBlock = 65536;

// Adds lines of one file, newest first, until `count` are there. Bytes after the last newline are a line that is still being written.
void TailOf(int fd, off_t size, size_t count, const LineFilter& filter, std::vector<std::string>& newest_first) {
  std::string carry;  // start of the line that the block after this one began in
  bool whole = false;
  while (size > 0 && newest_first.size() < count) {
    const size_t n = std::min<size_t>(kBlock, static_cast<size_t>(size));
    std::string block(n, '\0');
    size -= static_cast<off_t>(n);
    if (::pread(fd, block.data(), n, size) != static_cast<ssize_t>(n)) return;
    block += carry;
    size_t end = block.size();
    for (;;) {
      const size_t newline = end == 0 ? std::string::npos : block.rfind('\n', end - 1);
      if (newline == std::string::npos) break;
      const std::string line = block.substr(newline + 1, end - newline - 1);
      if (whole && !line.empty() && filter(line)) newest_first.push_back(line);
      whole = true;
      end = newline;
      if (newest_first.size() == count) return;
    }
    carry = block.substr(0, end);
  }
  if (size == 0 && whole && !carry.empty() && newest_first.size() < count && filter(carry)) newest_first.push_back(carry);
}
}  // namespace

std::vector<std::string> TailLines(const std::vector<std::string>& files, size_t count, const LineFilter& filter, off_t* end) {
  if (end != nullptr) *end = 0;
  std::vector<std::string> lines;
  for (auto it = files.rbegin(); it != files.rend(); ++it) {
    const std::string& file = *it;
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat st {};
    if (!fd || ::fstat(fd.get(), &st) != 0) continue;
    if (end != nullptr && file == files.back()) *end = st.st_size;
    TailOf(fd.get(), st.st_size, count, filter, lines);
    if (lines.size() == count) break;
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

void LineFollower::ReadOpen(std::vector<std::string>& lines) {
  char buffer[kBlock];
  for (;;) {
    const ssize_t n = ::pread(fd_.get(), buffer, sizeof buffer, offset_);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    offset_ += n;
    partial_.append(buffer, static_cast<size_t>(n));
    size_t start = 0;
    for (size_t newline = 0; (newline = partial_.find('\n', start)) != std::string::npos; start = newline + 1) {
      lines.push_back(partial_.substr(start, newline - start));
    }
    partial_.erase(0, start);
  }
}

std::vector<std::string> LineFollower::Read() {
  std::vector<std::string> lines;
  if (fd_) ReadOpen(lines);
  struct stat named {};
  if (::stat(path_.c_str(), &named) != 0) return lines;
  struct stat open {};
  if (fd_ && ::fstat(fd_.get(), &open) == 0 && open.st_ino == named.st_ino && open.st_dev == named.st_dev) {
    if (named.st_size < offset_) offset_ = 0;  // truncated in place
    return lines;
  }
  if (fd_) offset_ = 0;
  partial_.clear();
  fd_.Reset(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd_) ReadOpen(lines);
  return lines;
}

void Follow(std::vector<LineFollower> files, const std::function<void(size_t, const std::string&)>& print) {
  Watch watch;
  for (;;) {
    for (const auto& file : files) watch.Add(std::filesystem::path(file.path()).parent_path().string());
    for (size_t i = 0; i < files.size(); ++i) {
      for (const auto& line : files[i].Read()) print(i, line);
    }
    watch.Wait(std::nullopt);
  }
}

}  // namespace beige::cli
