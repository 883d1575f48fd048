#include "gateway/audit/recovery.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "base/unique_fd.h"

namespace beige::audit {
namespace {
constexpr std::string_view kHead = R"({"v":1,"ts":")";
constexpr std::string_view kSeq = R"(","seq":)";
constexpr std::string_view kId = R"(,"id":")";
constexpr std::string_view kEvent = R"(","event":")";
constexpr std::string_view kUid = R"("agentUid":")";
constexpr std::string_view kAllow = R"("decision":"allow")";
constexpr size_t kTimeLength = 24;
constexpr size_t kIdLength = 26;

// The head of a record has a fixed form, and quotes inside of values are escaped: no JSON parser is needed.
void OnLine(std::string_view line, std::string_view today, Leftover& leftover) {
  const size_t size = line.size() + 1;
  if (!line.starts_with(kHead) || line.size() < kHead.size() + kTimeLength + kSeq.size()) return;
  const std::string_view date = line.substr(kHead.size(), today.size());
  std::string_view rest = line.substr(kHead.size() + kTimeLength);
  if (!rest.starts_with(kSeq)) return;
  rest.remove_prefix(kSeq.size());
  uint64_t seq = 0;
  const auto [end, err] = std::from_chars(rest.data(), rest.data() + rest.size(), seq);
  if (err != std::errc()) return;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  if (!rest.starts_with(kId) || rest.size() < kId.size() + kIdLength + kEvent.size()) return;
  if (seq > leftover.last_seq) leftover.last_seq = seq;
  const std::string_view id = rest.substr(kId.size(), kIdLength);
  rest.remove_prefix(kId.size() + kIdLength);
  if (!rest.starts_with(kEvent)) return;
  rest.remove_prefix(kEvent.size());
  if (rest.starts_with("begin\"") && rest.find(kAllow) != std::string_view::npos) {
    leftover.unfinished.emplace(id, line);
  } else if (rest.starts_with("end\"")) {
    leftover.unfinished.erase(std::string(id));
  }
  if (date != today) return;
  const size_t uid_at = rest.find(kUid);
  if (uid_at == std::string_view::npos) return;
  const std::string_view uid = rest.substr(uid_at + kUid.size());
  leftover.bytes_today[std::string(uid.substr(0, uid.find('"')))] += static_cast<int64_t>(size);
}
}  // namespace

Result<> Scan(const std::string& path, std::string_view today, Leftover& leftover) {
  leftover.torn_bytes = 0;
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    if (errno == ENOENT) return {};
    return FailErrno(errno, "open " + path);
  }
  std::string buffer;
  constexpr size_t kChunk = 1u << 20;
  for (;;) {
    const size_t had = buffer.size();
    buffer.resize(had + kChunk);
    const ssize_t n = ::read(fd.get(), buffer.data() + had, kChunk);
    if (n < 0 && errno == EINTR) {
      buffer.resize(had);
      continue;
    }
    if (n < 0) return FailErrno(errno, "read " + path);
    buffer.resize(had + static_cast<size_t>(n));
    if (n == 0) break;
    size_t start = 0;
    for (size_t end = buffer.find('\n'); end != std::string::npos; end = buffer.find('\n', start)) {
      OnLine(std::string_view(buffer).substr(start, end - start), today, leftover);
      start = end + 1;
    }
    buffer.erase(0, start);
  }
  leftover.torn_bytes = buffer.size();
  return {};
}

}  // namespace beige::audit
