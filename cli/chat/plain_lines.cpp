#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files.h"
#include "cli/chat/line_source.h"

namespace beige::cli {
namespace {
constexpr size_t kKept = 500;        // lines of history after a cut
constexpr size_t kMost = 1000;       // before it
constexpr size_t kLongest = 8192;    // bytes of a line that is remembered
constexpr size_t kLargest = 8u << 20;

class PlainLines : public LineSource {
 public:
  explicit PlainLines(CaughtSignals& signals) : signals_(signals) {}

  TypedLine Read() override {
    for (;;) {
      if (const size_t end = bytes_.find('\n'); end != std::string::npos) {
        TypedLine line{bytes_.substr(0, end), false, 0};
        bytes_.erase(0, end + 1);
        return line;
      }
      if (at_end_) {
        TypedLine line{bytes_, bytes_.empty(), 0};
        bytes_.clear();
        return line;
      }
      pollfd entries[] = {{STDIN_FILENO, POLLIN, 0}, {signals_.fd(), POLLIN, 0}};
      ::poll(entries, 2, -1);
      if (const int signal = signals_.Read(); signal == SIGINT || signal == SIGTERM || signal == SIGHUP) return {"", false, signal};
      if (entries[0].revents == 0) continue;
      char chunk[65536];
      const ssize_t n = ::read(STDIN_FILENO, chunk, sizeof chunk);
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n <= 0) at_end_ = true;
      if (n > 0) bytes_.append(chunk, static_cast<size_t>(n));
    }
  }

 private:
  CaughtSignals& signals_;
  std::string bytes_;
  bool at_end_ = false;
};
}  // namespace

std::unique_ptr<LineSource> MakePlainLines(CaughtSignals& signals) { return std::make_unique<PlainLines>(signals); }

std::vector<std::string> LoadHistory(const std::string& file) {
  std::vector<std::string> lines;
  const auto text = ReadRegular(file, kLargest);
  if (!text) {
    if (text.error().code == Code::kInvalid) static_cast<void>(RemoveFile(file));  // beyond the limit: begun anew
    return lines;
  }
  for (size_t start = 0; start < text->size();) {
    const size_t end = std::min(text->find('\n', start), text->size());
    if (end > start) lines.push_back(text->substr(start, end - start));
    start = end + 1;
  }
  if (lines.size() <= kMost) return lines;
  lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kKept));
  std::string kept;
  for (const auto& line : lines) kept += line + "\n";
  static_cast<void>(WriteFileAtomic(file, kept, 0600));
  return lines;
}

void AppendHistory(const std::string& file, const std::string& line) {
  if (line.size() > kLongest) return;
  // Two chats at one time append to one file: whole lines in one write.
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  const std::string whole = line + "\n";
  if (fd) static_cast<void>(::write(fd.get(), whole.data(), whole.size()) > 0);
}

}  // namespace beige::cli
