#include "gateway/audit/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unordered_map>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/random.h"
#include "gateway/audit/budget.h"
#include "gateway/audit/record.h"
#include "gateway/audit/recovery.h"
#include "gateway/audit/reserve.h"
#include "gateway/audit/rotation.h"
#include "gateway/audit/sync_thread.h"
#include "gateway/metrics/metrics.h"

namespace beige {
namespace {
using audit::kMaxEndBytes;
using std::chrono::milliseconds;

constexpr milliseconds kSyncPeriod{30};  // plus one fdatasync: within 50 ms
constexpr milliseconds kRetry{100};      // of a reserve that could not be made whole
constexpr int64_t kReleaseBytes = 64 << 10;
constexpr std::chrono::seconds kRotateRetry{10};
constexpr std::chrono::hours kOldEvery{1};

std::string ReservePath(const std::string& path) { return path.substr(0, path.rfind(".jsonl")) + ".reserve"; }

std::string ErrnoText(int err) { return std::system_category().message(err); }

class FileAuditLog final : public AuditLog {
 public:
  FileAuditLog(std::string path, AuditSync sync, const Clock& clock, GatewayMetrics& metrics, const AuditLimits& limits,
               audit::Reserve reserve)
      : path_(std::move(path)), sync_(sync), clock_(clock), metrics_(metrics), limits_(limits), reserve_(std::move(reserve)),
        thread_(kSyncPeriod) {}

  ~FileAuditLog() override { TellRefusals(/*all=*/true); }

  Result<> Start() {
    audit::Leftover leftover;
    const SystemTime now = clock_.WallNow();
    const std::string today = FormatTime(now).substr(0, 10);
    for (const std::string& file : audit::FilesToScan(audit::RotatedFiles(path_), path_, today)) BEIGE_TRY(audit::Scan(file, today, leftover));
    BEIGE_TRY(OpenFile());
    seq_ = leftover.last_seq;
    for (const auto& [uid, bytes] : leftover.bytes_today) budget_.Preload(audit::Budget::DayOf(now), uid, bytes);
    if (leftover.torn_bytes > 0) {
      // The torn bytes stay as a line of their own; a reader skips it, unless nothing but the newline was torn off, and finds the note beside it.
      line_ = "\n";
      if (const int err = WriteLine(true)) return FailErrno(err, "write " + path_);
      (void)Note("config", nullptr, "gateway", "audit: closed a " + std::string(leftover.torn_is_whole ? "record without its newline" : "torn record") + " of " +
                     std::to_string(leftover.torn_bytes) + " bytes left by a crash");
    }
    for (const auto& [id, line] : leftover.unfinished) CloseUnfinished(id, line);
    return {};
  }

  Result<std::string> Begin(const BeginRecord& record) override {
    const SystemTime now = clock_.WallNow();
    if (budget_.HasRefusals()) TellRefusals(/*all=*/false);
    if (auto ready = ReadyToBegin(record.allowed); !ready) {
      metrics_.CountAuditWriteFailure();
      return tl::make_unexpected(std::move(ready.error()));
    }
    const AgentRef& agent = record.request->agent;
    // The owner's own commands go through even when the agent has used up its day: they are how its owner finds out why.
    if (record.request->actor == "agent" && !budget_.Admit(agent, now)) {
      return Fail(Code::kExhausted, "audit: the budget of agent " + agent.name + " for today is used up; raise audit.perAgentBytesPerDay or wait until 00:00 UTC");
    }
    std::string id = RandomUlid();
    line_.clear();
    audit::AppendBegin(line_, {time_.Of(now), seq_ + 1, id}, record);
    if (const int err = WriteLine(false)) {
      metrics_.CountAuditWriteFailure();
      return Unwritable(err);
    }
    if (record.allowed) open_.emplace(id, seq_ + 1);  // before a rotation that it may cause
    Written(agent.uid, now);
    if (sync_ == AuditSync::kEach) {
      if (const int err = SyncNow()) {
        metrics_.CountAuditWriteFailure();
        if (record.allowed) End(id, {record.request, "cancelled", 0, 125, 0, 0, 0, 0, "not run: the audit log could not be synced"});
        return Unwritable(err);
      }
    }
    return id;
  }

  void End(const std::string& id, const EndRecord& record) override {
    if (budget_.HasRefusals()) TellRefusals(false);
    const SystemTime now = clock_.WallNow();
    const CallRequest& call = *record.request;
    if (FlushPending() && WriteEnd(id, call.agent, call.tool, record, now)) return;
    metrics_.CountAuditWriteFailure();
    if (pending_.empty()) LogError("audit: the end of a call can't be written and waits in memory", {{"path", path_}, {"error", last_error_}});
    pending_.push_back({id, call.agent, call.tool, record, std::string(record.outcome), std::string(record.error), now});
  }

  Result<> Note(std::string_view kind, const AgentRef* agent, std::string_view actor, std::string_view message) override {
    if (!FlushPending()) return Unwritable(last_errno_);
    const SystemTime now = clock_.WallNow();
    std::string longer;
    if (agent != nullptr && actor == "sandbox") {  // what an agent makes us say is its own spam
      const auto unsaid = budget_.AdmitNote(agent->uid, now);
      if (!unsaid) return {};
      if (*unsaid > 0) message = longer = std::string(message) + " (the agent is over its budget: " + std::to_string(*unsaid) + " notes before this one are not kept)";
    }
    line_.clear();
    audit::AppendNote(line_, {time_.Of(now), seq_ + 1, RandomUlid()}, kind, agent, actor, message);
    if (const int err = WriteLine(false)) {
      metrics_.CountAuditWriteFailure();
      return Unwritable(err);
    }
    Written(agent != nullptr ? agent->uid : std::string(), now);
    if (sync_ == AuditSync::kEach) (void)SyncNow();
    return {};
  }

  void SetSync(AuditSync sync) override { sync_ = sync; }
  void SetBudget(int64_t bytes) override { budget_.SetLimit(bytes); }
  void SetKeep(std::chrono::nanoseconds keep) override {
    keep_ = keep;
    old_looked_at_ = {};
  }

  void Tick() override {
    FollowPath();
    (void)FlushPending();
    TellRefusals(/*all=*/false);
    if (!reserve_.whole()) (void)reserve_.Restore();
    const SteadyTime now = clock_.Now();
    if (keep_.count() == 0 || (old_looked_at_ != SteadyTime() && now - old_looked_at_ < kOldEvery)) return;
    old_looked_at_ = now;
    for (const std::string& name : audit::RemoveOld(path_, clock_.WallNow(), keep_)) {
      (void)Note("config", nullptr, "gateway", "audit: removed " + name + ", which is older than " +
                     FormatDuration(std::chrono::duration_cast<std::chrono::milliseconds>(keep_)));
    }
  }

 private:
  struct PendingEnd {
    std::string id;
    AgentRef agent;
    std::string tool;
    EndRecord record;  // its views are not valid; the texts are below
    std::string outcome;
    std::string error;
    SystemTime when;
  };

  Result<> OpenFile(bool create = true) {
    UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_APPEND | (create ? O_CREAT : 0) | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) return FailErrno(errno, "open " + path_);
    struct stat st {};
    if (::fstat(fd.get(), &st) != 0) return FailErrno(errno, "stat " + path_);
    size_ = st.st_size;
    fd_ = std::make_shared<const UniqueFd>(std::move(fd));
    thread_.Use(fd_);
    if (sync_ == AuditSync::kBatch) thread_.MarkDirty();
    return {};
  }

  // A file system that went read-only has to be taken off, repaired and mounted again: nothing of ours may hold it meanwhile.
  void LetGo() {
    fd_.reset();
    thread_.Use(nullptr);
    reserve_ = audit::Reserve();
    LogError("audit: the file system is read-only; calls are denied until it can be written", {{"path", path_}});
  }

  // Goes on at the path after LetGo, or when somebody moved or removed the file: what is open is no longer what the path names then, and a
  // record that goes there is lost.
  void FollowPath() {
    struct stat open {};
    struct stat named {};
    const bool let_go = fd_ == nullptr;
    if (!let_go && ::fstat(fd_->get(), &open) != 0) return;
    const bool there = ::stat(path_.c_str(), &named) == 0;
    if (!let_go && there && named.st_dev == open.st_dev && named.st_ino == open.st_ino) return;
    // Without its file the place is a mount point with nothing mounted.
    if (!OpenFile(/*create=*/!let_go)) return;  // not even that: the next tick tries again
    auto reserve = audit::Reserve::Open(ReservePath(path_), limits_.reserve_bytes);
    if (!reserve) return LetGo();
    reserve_ = std::move(*reserve);
    if (let_go) {
      LogWarn("audit: the file can be written again", {{"path", path_}});
      (void)FlushPending();
      (void)Note("config", nullptr, "gateway", "audit: goes on after its file system was read-only");
      return;
    }
    LogWarn("audit: the file was moved, removed or mounted anew; the log goes on under its path", {{"path", path_}});
    (void)FlushPending();
    (void)Note("config", nullptr, "gateway", std::string("audit: the file that was written to is not the one at its path any more") +
                   (there ? "" : ", where there was none") + "; goes on at its path");
  }

  Result<> ReadyToBegin(bool allowed) {
    if (!fd_) return Unwritable(EROFS);
    if (!FlushPending()) return Unwritable(last_errno_);
    if (sync_ == AuditSync::kBatch && thread_.error() != 0) return Unwritable(thread_.error());
    if (!allowed) return {};
    if (!reserve_.whole()) {
      const SteadyTime now = clock_.Now();
      if (now - last_restore_ < kRetry && last_restore_ != SteadyTime()) return Unwritable(ENOSPC);
      last_restore_ = now;
      if (!reserve_.Restore()) return Unwritable(ENOSPC);
    }
    if (static_cast<int64_t>((open_.size() + 1) * kMaxEndBytes) > reserve_.bytes()) {
      return Fail(Code::kExhausted, "audit: " + std::to_string(open_.size()) + " calls are running; no room is reserved for the end of another");
    }
    return {};
  }

  tl::unexpected<Error> Unwritable(int err) const {
    return Fail(Code::kUnavailable, "the audit log can't be written: " + ErrnoText(err) + "; see " + path_ + " on the host");
  }

  // One write() of line_. 0 or errno; a cut write is taken back, so that a line is there whole or not at all.
  int WriteLine(bool may_use_reserve) {
    while (fd_) {
      const ssize_t n = ::write(fd_->get(), line_.data(), line_.size());
      if (n == static_cast<ssize_t>(line_.size())) {
        size_ += n;
        return 0;
      }
      int err = n < 0 ? errno : ENOSPC;
      if (n > 0 && ::ftruncate(fd_->get(), size_) != 0) LogError("audit: a cut record stays in the log", {{"error", ErrnoText(errno)}});
      if (err == EINTR) continue;
      if ((err == ENOSPC || err == EDQUOT) && may_use_reserve && reserve_.Release(kReleaseBytes)) continue;
      last_errno_ = err;
      last_error_ = ErrnoText(err);
      if (err == EROFS) LetGo();
      return err;
    }
    return EROFS;
  }

  void Written(const std::string& uid, SystemTime now) {
    ++seq_;
    if (!uid.empty()) budget_.Count(uid, static_cast<int64_t>(line_.size()), now);
    metrics_.CountAuditRecord();
    if (sync_ == AuditSync::kBatch) thread_.MarkDirty();
    if (size_ >= limits_.rotate_bytes && clock_.Now() >= rotate_again_) Rotate(now);
  }

  bool WriteEnd(const std::string& id, const AgentRef& agent, std::string_view tool, const EndRecord& record, SystemTime when) {
    line_.clear();
    audit::AppendEnd(line_, {time_.Of(when), seq_ + 1, id}, agent, tool, record);
    if (WriteLine(true) != 0) return false;
    open_.erase(id);
    Written(agent.uid, when);
    if (sync_ == AuditSync::kEach) (void)SyncNow();
    return true;
  }

  bool FlushPending() {
    while (!pending_.empty()) {
      PendingEnd& end = pending_.front();
      end.record.outcome = end.outcome;
      end.record.error = end.error;
      if (!WriteEnd(end.id, end.agent, end.tool, end.record, end.when)) return false;
      pending_.erase(pending_.begin());
    }
    return true;
  }

  int SyncNow() {
    if (!fd_) return EROFS;
    if (::fdatasync(fd_->get()) == 0) return 0;
    last_errno_ = errno;
    last_error_ = ErrnoText(errno);
    return last_errno_;
  }

  void TellRefusals(bool all) {
    budget_.TakeSummaries(clock_.WallNow(), all, [this](const audit::Budget::Summary& summary) {
      (void)Note("config", &summary.agent, "gateway",
                 "audit: over its budget for today; refused " + std::to_string(summary.refused) + " calls without a record each");
    });
  }

  // The old file is complete and synced before the new one has its first record.
  void Rotate(SystemTime now) {
    if (sync_ != AuditSync::kNone) (void)SyncNow();
    std::string target = audit::RotatedName(path_, FormatTime(now));
    if (Exists(target)) target = audit::RotatedName(path_, FormatTime(now) + "-" + std::to_string(seq_));
    rotate_again_ = clock_.Now() + kRotateRetry;
    if (::rename(path_.c_str(), target.c_str()) != 0) {
      LogError("audit: rotation failed; the log goes on in one file", {{"path", path_}, {"error", ErrnoText(errno)}});
      return;
    }
    if (auto opened = OpenFile(); !opened) {
      // Back to where it was: better a large file than no log.
      (void)::rename(target.c_str(), path_.c_str());
      LogError("audit: rotation failed; the log goes on in one file", {{"path", path_}, {"error", opened.error().message}});
      return;
    }
    rotate_again_ = {};
    // Where a start after a crash has to begin looking for calls without an end.
    uint64_t oldest = 0;
    for (const auto& [id, seq] : open_) oldest = oldest == 0 ? seq : std::min(oldest, seq);
    std::string head;
    audit::AppendContinues(head, {time_.Of(now), seq_ + 1, RandomUlid()}, target.substr(target.rfind('/') + 1), oldest);
    line_.swap(head);
    if (WriteLine(true) == 0) Written({}, now);
  }

  void CloseUnfinished(const std::string& id, const std::string& line) {
    const auto begin = nlohmann::json::parse(line, nullptr, false);
    if (!begin.is_object()) return;
    const auto text = [&](const char* key) { return begin.contains(key) && begin[key].is_string() ? begin[key].get<std::string>() : std::string(); };
    PendingEnd end{id, {text("namespace"), text("agent"), text("agentUid")}, text("tool"), {}, "unknown", "the gateway ended before the call did",
                   clock_.WallNow()};
    end.record.exit_code = 125;
    pending_.push_back(std::move(end));
    (void)FlushPending();
  }

  const std::string path_;
  AuditSync sync_;
  const Clock& clock_;
  GatewayMetrics& metrics_;
  const AuditLimits limits_;
  audit::Reserve reserve_;
  audit::SyncThread thread_;
  audit::Budget budget_;
  audit::TimeText time_;
  std::shared_ptr<const UniqueFd> fd_;
  int64_t size_ = 0;
  uint64_t seq_ = 0;
  std::unordered_map<std::string, uint64_t> open_;  // allowed begins without a written end: id -> seq
  std::string line_;
  std::vector<PendingEnd> pending_;
  SteadyTime last_restore_{};
  SteadyTime rotate_again_{};
  std::chrono::nanoseconds keep_{0};
  SteadyTime old_looked_at_{};
  int last_errno_ = 0;
  std::string last_error_;
};
}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path, AuditSync sync, const Clock& clock, GatewayMetrics& metrics,
                                                 const AuditLimits& limits) {
  BEIGE_ASSIGN(audit::Reserve reserve, audit::Reserve::Open(ReservePath(path), limits.reserve_bytes));
  auto log = std::make_unique<FileAuditLog>(path, sync, clock, metrics, limits, std::move(reserve));
  BEIGE_TRY(log->Start());
  return std::unique_ptr<AuditLog>(std::move(log));
}

}  // namespace beige
