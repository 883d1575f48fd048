// The audit log at the start after a crash: whatever the file holds, the next start ends what had begun and goes on; and whatever a call
// holds, its record is one line that the reader takes for what it is. The other reader is a person's: `beige audit tail` and `show`.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files.h"
#include "cli/audit.h"
#include "cli/lines.h"
#include "gateway/audit/audit_log.h"
#include "gateway/audit/record.h"
#include "gateway/audit/recovery.h"
#include "gateway/metrics/metrics.h"
#include "tests/fuzz/fuzz.h"

namespace {
using beige::fuzz::Hold;
using beige::fuzz::Input;
using namespace beige;

constexpr std::string_view kTime = "2026-11-29T12:00:00.123Z";
constexpr std::string_view kId = "01HZZZZZZZZZZZZZZZZZZZZZZZ";

audit::Leftover ScanText(std::string_view text) {
  const int fd = ::memfd_create("audit", MFD_CLOEXEC);
  Hold(fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "the test has memory");
  audit::Leftover leftover;
  Hold(audit::Scan("/proc/self/fd/" + std::to_string(fd), kTime.substr(0, 10), leftover).has_value(), "any file can be scanned");
  ::close(fd);
  return leftover;
}

void ExpectPlain(const std::string& line) {
  const std::string shown = cli::FormatAuditRecord(line);
  Hold(std::none_of(shown.begin(), shown.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }), "nothing drives the terminal of who reads it");
}

// No bytes of a call make more or other records than one.
void Record(Input input) {
  CallRequest call;
  const uint8_t choice = input.Byte();
  call.agent = {"default", "a", "u-1"};
  call.tool = input.Text();
  call.cwd_claim = input.Text();
  call.session_claim = input.Text();
  while (!input.empty()) call.args.emplace_back(input.Text());
  std::string text;
  const bool allowed = (choice & 1) != 0;
  audit::AppendBegin(text, {kTime, 7, kId}, {&call, allowed, "tools", call.tool, 3});
  const size_t begin_size = text.size();
  Hold(text.find('\n') == begin_size - 1, "a begin is one line");
  const auto json = nlohmann::json::parse(text, nullptr, false);
  Hold(json.is_object() && json["event"] == "begin" && json["agentUid"] == "u-1" && json["decision"] == (allowed ? "allow" : "deny"),
       "a begin says who called and what was decided, whatever the call holds");
  auto leftover = ScanText(text);
  Hold(leftover.last_seq == 7 && leftover.torn_bytes == 0 && leftover.unfinished.size() == (allowed ? 1u : 0u), "the reader sees the begin as it is");
  Hold(leftover.bytes_today.size() == 1 && leftover.bytes_today["u-1"] == static_cast<int64_t>(begin_size), "its bytes count for its agent");
  EndRecord end{&call, "error", 5, 1, 0, 1, 2, 3, call.cwd_claim};
  audit::AppendEnd(text, {kTime, 8, kId}, call.agent, call.tool, end);
  Hold(text.size() - begin_size <= audit::kMaxEndBytes, "an end fits into the room that is kept for it");
  leftover = ScanText(text);
  Hold(leftover.last_seq == 8 && leftover.unfinished.empty(), "the reader sees the end as it is");
  ExpectPlain(text.substr(0, begin_size - 1));
  ExpectPlain(text.substr(begin_size, text.size() - begin_size - 1));
}

class Folder {
 public:
  Folder() {
    char name[] = "/dev/shm/beige-fuzz-audit-XXXXXX";
    Hold(::mkdtemp(name) != nullptr, "the test has a folder");
    path_ = name;
    Hold(MakeDirs(path_ + "/logs", 0700).has_value(), "the test has a folder");
  }
  ~Folder() { (void)RemoveTree(path_); }
  const std::string& home() const { return path_; }
  std::string Log() const { return path_ + "/logs/audit.jsonl"; }

 private:
  std::string path_;
};

// What a person sees of a log that holds `text`, whatever it is.
void Show(const Folder& folder, std::string_view text) {
  std::vector<std::string> want;
  for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string_view::npos; at = end + 1) {
    if (end > at) want.emplace_back(text.substr(at, end - at));
  }
  const std::vector<std::string> files = {folder.home() + "/logs/absent.jsonl", folder.Log()};
  const cli::LineFilter all = [](const std::string&) { return true; };
  Hold(cli::TailLines(files, SIZE_MAX, all) == want, "all whole lines, in order");
  const size_t some = want.size() / 2;
  Hold(cli::TailLines(files, some, all) == std::vector<std::string>(want.end() - static_cast<std::ptrdiff_t>(some), want.end()), "the last of them");
  cli::Globals globals;
  globals.home = folder.home();
  std::string id;
  for (const auto& line : want) {
    ExpectPlain(line);
    const auto record = nlohmann::json::parse(line, nullptr, false);
    if (record.is_object() && record.contains("id") && record["id"].is_string()) id = record["id"].get<std::string>();
  }
  globals.output = std::array{cli::Output::kTable, cli::Output::kJson, cli::Output::kYaml}[text.size() % 3];
  Hold(cli::RunAuditTail(globals, {.lines = 20, .follow = false, .agent = text.size() % 2 == 0 ? "a" : ""}) == 0, "any log can be shown");
  const std::string needle = "\"" + id + "\"";  // an id that is escaped in the file is none of ours
  const bool plain = std::any_of(want.begin(), want.end(), [&](const std::string& line) {
    if (line.find(needle) == std::string::npos) return false;
    const auto record = nlohmann::json::parse(line, nullptr, false);
    return record.is_object() && record.contains("id") && record["id"] == id;
  });
  if (plain) Hold(cli::RunAuditShow(globals, id) == 0, "a record is found by its id");
}

void Start(std::string_view text) {
  static Folder folder;
  static ManualClock clock;
  static GatewayMetrics metrics;
  AuditLimits limits;
  limits.reserve_bytes = 64 << 10;
  Hold(WriteFileAtomic(folder.Log(), text, 0600).has_value(), "the test can write its log");
  Show(folder, text);
  if (text.size() % 16 == 1) {  // and over the end of a block
    const std::string longer = std::string(text) + "\n" + std::string(65530, 'x') + "\n" + std::string(text);
    Hold(WriteFileAtomic(folder.Log(), longer, 0600).has_value(), "the test can write its log");
    Show(folder, longer);
    Hold(WriteFileAtomic(folder.Log(), text, 0600).has_value(), "the test can write its log");
  }
  const auto before = ScanText(text);
  { Hold(AuditLog::Open(folder.Log(), AuditSync::kNone, clock, metrics, limits).has_value(), "the log opens whatever it holds"); }
  const auto after = ReadFile(folder.Log());
  Hold(after.has_value() && after->starts_with(text), "nothing that was written is changed");
  const auto left = ScanText(*after);
  Hold(left.torn_bytes == 0, "a torn record is closed off");
  for (const auto& [id, line] : left.unfinished) Hold(!nlohmann::json::accept(line), "each begin has its end after the next start");
  Hold(left.last_seq >= before.last_seq, "numbers go on from where they were");
  const std::string_view added = std::string_view(*after).substr(text.size());
  for (size_t at = 0, end = 0; at < added.size(); at = end + 1) {
    end = added.find('\n', at);
    const auto line = added.substr(at, end - at);
    if (!line.empty()) Hold(nlohmann::json::accept(line), "what recovery adds is JSON lines");
  }
}
}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  Hold(std::freopen("/dev/null", "w", stdout) != nullptr, "what is shown goes nowhere");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  Input input(data, size);
  if (input.Byte() % 2 == 0) {
    Record(input);
  } else {
    Start(input.Rest());
  }
  return 0;
}
