#include "gateway/audit/recovery.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/unique_fd.h"

namespace beige::audit {
namespace {
constexpr std::string_view kHead = R"({"v":1,"ts":")";
constexpr std::string_view kSeq = R"(","seq":)";
constexpr std::string_view kId = R"(,"id":")";
constexpr std::string_view kEvent = R"(","event":")";
constexpr std::string_view kUid = R"("agentUid":")";
constexpr std::string_view kAllow = R"("decision":"allow")";
constexpr std::string_view kOpenSince = R"(,"openSince":)";
constexpr size_t kTimeLength = 24;
constexpr size_t kIdLength = 26;

// The head of a record has a fixed form, and quotes inside of values are escaped: no JSON parser is needed.
struct Head {
  std::string_view date;
  uint64_t seq = 0;
  std::string_view id;
  std::string_view rest;  // from the event's name on
};

std::optional<Head> ReadHead(std::string_view line, size_t date_length = 10) {
  if (!line.starts_with(kHead) || line.size() < kHead.size() + kTimeLength + kSeq.size()) return std::nullopt;
  Head head;
  head.date = line.substr(kHead.size(), date_length);
  std::string_view rest = line.substr(kHead.size() + kTimeLength);
  if (!rest.starts_with(kSeq)) return std::nullopt;
  rest.remove_prefix(kSeq.size());
  const auto [end, err] = std::from_chars(rest.data(), rest.data() + rest.size(), head.seq);
  if (err != std::errc()) return std::nullopt;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  if (!rest.starts_with(kId) || rest.size() < kId.size() + kIdLength + kEvent.size()) return std::nullopt;
  head.id = rest.substr(kId.size(), kIdLength);
  rest.remove_prefix(kId.size() + kIdLength);
  if (!rest.starts_with(kEvent)) return std::nullopt;
  head.rest = rest.substr(kEvent.size());
  return head;
}

void OnLine(std::string_view line, std::string_view today, Leftover& leftover) {
  const auto head = ReadHead(line, today.size());
  if (!head) return;
  if (head->seq > leftover.last_seq) leftover.last_seq = head->seq;
  if (head->rest.starts_with("begin\"") && head->rest.find(kAllow) != std::string_view::npos) {
    leftover.unfinished.emplace(head->id, line);
  } else if (head->rest.starts_with("end\"")) {
    leftover.unfinished.erase(std::string(head->id));
  }
  if (head->date != today) return;
  const size_t uid_at = head->rest.find(kUid);
  if (uid_at == std::string_view::npos) return;
  const std::string_view uid = head->rest.substr(uid_at + kUid.size());
  leftover.bytes_today[std::string(uid.substr(0, uid.find('"')))] += static_cast<int64_t>(line.size() + 1);
}

// What the first record of a file says. `seq` 0: the file is empty, or none of ours.
struct FileHead {
  uint64_t seq = 0;
  bool is_today = false;
  bool continues = false;   // the note of a rotation
  uint64_t open_since = 0;  // 0 = no call was running then
};

FileHead ReadFileHead(const std::string& path, std::string_view today) {
  FileHead out;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return out;
  std::string buffer(8192, '\0');  // a note is at most a quarter of it; of a longer record the head is enough
  const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
  if (n <= 0) return out;
  buffer.resize(static_cast<size_t>(n));
  const auto head = ReadHead(std::string_view(buffer).substr(0, buffer.find('\n')), today.size());
  if (!head) return out;
  out.seq = head->seq;
  out.is_today = head->date == today;
  const size_t at = head->rest.starts_with("note\"") ? head->rest.rfind(kOpenSince) : std::string_view::npos;
  if (at == std::string_view::npos) return out;
  out.continues = true;
  const std::string_view value = head->rest.substr(at + kOpenSince.size());
  std::from_chars(value.data(), value.data() + value.size(), out.open_since);  // null leaves 0
  return out;
}
}  // namespace

std::vector<std::string> FilesToScan(const std::vector<std::string>& rotated, const std::string& current, std::string_view today) {
  std::vector<std::string> files = rotated;
  files.push_back(current);
  std::vector<FileHead> heads;
  for (const std::string& file : files) heads.push_back(ReadFileHead(file, today));
  size_t first = files.size() - 1;
  // A file without the note (a crash came between rename and note, or it is the very first) says nothing: the one before does.
  while (first > 0 && !heads[first].continues) --first;
  if (const uint64_t since = heads[first].open_since; since != 0) {
    while (first > 0 && (heads[first].seq == 0 || heads[first].seq > since)) --first;
  }
  while (first > 0 && (heads[first].is_today || heads[first].seq == 0)) --first;
  return {files.begin() + static_cast<std::ptrdiff_t>(first), files.end()};
}

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
  // The newline that closes it makes it a record to every reader, so it must be one to us.
  leftover.torn_is_whole = buffer.ends_with('}') && nlohmann::json::accept(buffer);
  if (leftover.torn_is_whole) OnLine(buffer, today, leftover);
  return {};
}

}  // namespace beige::audit
