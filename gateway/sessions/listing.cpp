#include "gateway/sessions/listing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/log.h"
#include "gateway/sessions/json_line.h"
#include "gateway/sessions/record_json.h"

namespace beige::sessions {
namespace {
using nlohmann::ordered_json;
constexpr size_t kMaxFile = 1u << 30;
constexpr size_t kHead = 4096;
constexpr size_t kTail = 16384;
constexpr std::string_view kSuffix = ".jsonl";

Error NoSession(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return {Code::kNotFound, "no session " + name.substr(0, name.size() - kSuffix.size())};
}

Result<std::string> ReadPart(int fd, int64_t from, size_t size) {
  std::string out(size, '\0');
  const ssize_t n = ::pread(fd, out.data(), size, from);
  if (n < 0) return FailErrno(errno, "read");
  out.resize(static_cast<size_t>(n));
  return out;
}

// Of the first line.
std::optional<Line> FirstLine(int fd) {
  const auto head = ReadPart(fd, 0, kHead);
  auto first = head ? DecodeLine(head->substr(0, head->find('\n'))) : Fail(Code::kInvalid, "");
  if (!first || !std::holds_alternative<Begun>(first->record)) return std::nullopt;
  return std::move(*first);
}

UniqueFd OpenToRead(const std::string& path) { return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)); }

// What can't be listed holds nothing up.
std::vector<std::string> Names(const std::string& directory) {
  auto names = ListDir(directory);
  return names ? std::move(*names) : std::vector<std::string>();
}

// From the first line and the last end of a turn, when nothing but settings came behind it.
std::optional<Summary> Quickly(int fd, int64_t size, const std::string& agent_uid, bool& ours) {
  const auto first = FirstLine(fd);
  if (!first) return std::nullopt;
  const auto* begun = std::get_if<Begun>(&first->record);
  ours = begun->agent_uid == agent_uid;
  if (!ours) return std::nullopt;
  auto tail = ReadPart(fd, std::max<int64_t>(0, size - static_cast<int64_t>(kTail)), kTail);
  if (!tail || tail->empty() || tail->back() != '\n') return std::nullopt;
  tail->pop_back();
  const size_t start = tail->rfind('\n');
  if (start == std::string::npos) return std::nullopt;
  const auto last = DecodeLine(std::string_view(*tail).substr(start + 1));
  const auto* end = last ? std::get_if<TurnEnded>(&last->record) : nullptr;
  if (end == nullptr) return std::nullopt;
  Summary out;
  out.id = begun->id;
  out.title = end->title;
  out.created = first->time;
  out.updated = last->time;
  out.model = end->model;
  out.thinking = end->thinking;
  out.state = "idle";
  out.turns = end->turns;
  out.usage = end->total;
  return out;
}

Result<std::string> ReadWhole(const std::string& path) {
  auto text = ReadRegular(path, kMaxFile);
  if (!text && text.error().code == Code::kNotFound) return tl::make_unexpected(NoSession(path));
  return text;
}
}  // namespace

bool IsSessionId(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == std::string_view::npos;
}

std::string SessionFile(const std::string& directory, const std::string& id) { return JoinPath(directory, id + std::string(kSuffix)); }

Result<Loaded> LoadSession(const std::string& path, const std::string& agent_uid) {
  BEIGE_ASSIGN(const std::string text, ReadWhole(path));
  Loaded out{Transcript::Read(text), nullptr};
  if (out.transcript.begun().agent_uid != agent_uid) return tl::make_unexpected(NoSession(path));
  BEIGE_ASSIGN(out.file, LogFile::Open(path));
  return out;
}

Summary SummaryOf(const std::string& id, const Transcript& transcript) {
  Summary out;
  out.id = id;
  out.title = transcript.title();
  out.created = transcript.created();
  out.updated = transcript.updated();
  out.model = transcript.model();
  out.thinking = transcript.thinking();
  out.state = "idle";
  out.queued = transcript.waiting().size();
  out.turns = transcript.turns();
  out.usage = transcript.total();
  return out;
}

Result<std::vector<Summary>> ListSessions(const std::string& directory, const std::string& agent_uid) {
  std::vector<Summary> out;
  auto names = ListDir(directory);
  if (!names) return names.error().code == Code::kNotFound ? Result<std::vector<Summary>>(out) : tl::make_unexpected(names.error());
  for (const std::string& name : *names) {
    if (!name.ends_with(kSuffix)) continue;
    const std::string path = JoinPath(directory, name);
    const UniqueFd fd = OpenToRead(path);
    struct stat info {};
    if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    bool ours = true;
    auto summary = Quickly(fd.get(), info.st_size, agent_uid, ours);
    if (!ours) continue;
    if (!summary) {
      const auto text = ReadWhole(path);
      if (!text) {
        LogWarn("session not readable", {{"file", path}, {"error", text.error().message}});
        continue;
      }
      const Transcript transcript = Transcript::Read(*text);
      if (transcript.begun().agent_uid != agent_uid) continue;
      summary = SummaryOf(name.substr(0, name.size() - kSuffix.size()), transcript);
    }
    out.push_back(std::move(*summary));
  }
  std::sort(out.begin(), out.end(), [](const Summary& a, const Summary& b) { return std::tie(b.updated, b.id) < std::tie(a.updated, a.id); });
  return out;
}

Result<> RemoveSession(const std::string& path, const std::string& agent_uid) {
  const UniqueFd fd = OpenToRead(path);
  if (!fd) return errno == ENOENT ? tl::make_unexpected(NoSession(path)) : FailErrno(errno, "open " + path);
  const auto first = FirstLine(fd.get());
  const auto* begun = first ? std::get_if<Begun>(&first->record) : nullptr;
  if (begun == nullptr || begun->agent_uid != agent_uid) return tl::make_unexpected(NoSession(path));
  return RemoveFile(path);
}

Result<> MoveAside(const std::string& path, const std::string& to) {
  if (::rename(path.c_str(), to.c_str()) != 0) return FailErrno(errno, "rename " + path);
  LogWarn("a session's file that is not its agent's was moved aside", {{"file", path}, {"to", to}});
  return {};
}

std::vector<Left> FindLeft(const std::string& sessions) {
  const std::string suffix = std::string(kSuffix) + std::string(kMark);
  std::vector<Left> out;
  for (const std::string& space : Names(sessions)) {
    if (space.starts_with('.')) continue;  // the trash
    for (const std::string& agent : Names(JoinPath(sessions, space))) {
      const std::string directory = JoinPath(JoinPath(sessions, space), agent);
      for (const std::string& name : Names(directory)) {
        if (!name.ends_with(suffix)) continue;
        const std::string id = name.substr(0, name.size() - suffix.size());
        const UniqueFd fd = OpenToRead(SessionFile(directory, id));
        const auto first = fd ? FirstLine(fd.get()) : std::nullopt;
        const auto* begun = first ? std::get_if<Begun>(&first->record) : nullptr;
        // The place says whose it is, as for everybody who asks for a session; of the file only the uid counts.
        if (begun != nullptr && IsSessionId(id)) out.push_back({{space, agent, begun->agent_uid}, id});
        if (begun == nullptr) (void)RemoveFile(JoinPath(directory, name));
      }
    }
  }
  return out;
}

std::string SummaryJson(const Summary& summary) {
  JsonLine out;
  out.Text("id", summary.id).Text("title", summary.title).Text("createdAt", summary.created).Text("updatedAt", summary.updated);
  out.Text("model", summary.model).Text("thinkingLevel", summary.thinking).Text("state", summary.state);
  out.Number("queued", static_cast<int64_t>(summary.queued)).Number("turns", summary.turns).Raw("usage", JsonLine().Of(summary.usage).Done());
  return out.Done();
}

Result<std::string> ShowSession(const std::string& path, const std::string& agent_uid, const Summary& summary, size_t limit) {
  BEIGE_ASSIGN(const std::string text, ReadWhole(path));
  std::deque<std::string> messages;
  bool ours = false;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const auto line = DecodeLine(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line || std::holds_alternative<Partial>(line->record)) continue;  // the answer's own record has it all
    if (const auto* begun = std::get_if<Begun>(&line->record)) {
      ours = begun->agent_uid == agent_uid;
      continue;
    }
    ordered_json message = {{"at", line->time}};
    message.update(RecordJson(line->record));
    messages.push_back(message.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    if (limit > 0 && messages.size() > limit) messages.pop_front();
  }
  if (!ours) return tl::make_unexpected(NoSession(path));
  std::string out = SummaryJson(summary);
  out.back() = ',';
  out += "\"messages\":[";
  for (const std::string& message : messages) out.append(&message == &messages.front() ? "" : ",").append(message);
  return out + "]}";
}

}  // namespace beige::sessions
