#include "gateway/tools/cell.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "base/files.h"
#include "base/log.h"
#include "base/spawn.h"
#include "base/user_namespace.h"
#include "gateway/tools/cell_recipe.h"
#include "gateway/tools/confinement.h"

namespace beige {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kStartWithin{5000};
constexpr milliseconds kWorkspaceLook{100};
constexpr int kWorkspaceLooks = 100;
constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLastPause{30000};
constexpr milliseconds kSettled{5000};
constexpr size_t kMaxErrors = 2048;
constexpr size_t kMaxClaim = 512;

Result<UniqueFd> DataFd(const char* name, std::string_view content) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd) return FailErrno(errno, "memfd_create");
  if (::write(fd.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) return FailErrno(errno, "write memfd");
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}
}  // namespace

Cell::Cell(const CellHost& host, Party& party, AgentRef agent, std::shared_ptr<const ToolManifest> manifest, std::string data_dir,
           std::string workspace, std::function<void()> on_change)
    : host_(host), party_(party), agent_(std::move(agent)), manifest_(std::move(manifest)), data_dir_(std::move(data_dir)), workspace_(std::move(workspace)),
      on_change_(std::move(on_change)), timer_(host.loop), settled_(host.loop) {
  for (const auto& [name, secret] : manifest_->secrets) job::Env(job_head_, name, secret.Reveal());
  for (const auto& arg : CommandInCell(*manifest_)) job::Arg(job_head_, arg);
  Make();
}

Cell::~Cell() {
  LetGo();
  const auto waiters = std::exchange(waiters_, {});
  for (CellWaiter* waiter : waiters) waiter->OnCell();
}

// The end of its stream ends the runner, and that the cell; nobody waits for it.
void Cell::LetGo() {
  channel_.reset();
  if (pid_ != 0) host_.reaper.LetGo(std::exchange(pid_, 0));
  errors_watch_.reset();
  errors_fd_.Reset();
  info_watch_.reset();
  info_fd_.Reset();
  release_fd_.Reset();
}

void Cell::Make() {
  errors_.clear();
  // A grant comes before the operator has made a new agent's workspace and given it to the agent.
  struct stat info {};
  const bool ready = manifest_->workspace == ToolWorkspace::kNone || (::stat(workspace_.c_str(), &info) == 0 && info.st_uid != 0);
  if (!ready && workspace_looks_ < kWorkspaceLooks) {
    ++workspace_looks_;
    timer_.Start(kWorkspaceLook, [this] { Make(); });
    return;
  }
  if (auto made = TryMake(); !made) {
    LetGo();
    Failed(made.error().message);
    return;
  }
  timer_.Start(kStartWithin, [this] {
    ReadErrors();
    const std::string said = errors_.empty() ? "" : ": " + errors_;
    LetGo();
    Failed("its cell did not come up within 5 s" + said);
  });
}

// A tool runs with our uid, except where it works on files of an agent that has a uid of its own: then with that one, so that its files
// are the agent's.
Result<> Cell::ChooseIds() {
  uid_ = ::geteuid();
  gid_ = ::getegid();
  if (manifest_->workspace == ToolWorkspace::kNone) return {};
  struct stat info {};
  if (::stat(workspace_.c_str(), &info) != 0) return FailErrno(errno, "the agent's workspace " + workspace_);
  // No agent is root: it was not given to the agent.
  if (info.st_uid == 0) return Fail(Code::kUnavailable, "the agent's workspace " + workspace_ + " belongs to root, as which no tool works in it");
  if (info.st_uid == uid_) return {};
  uid_ = info.st_uid;
  gid_ = info.st_gid;
  if (CanMapIds({uid_, 1}) && CanMapIds({gid_, 1})) return {};
  return Fail(Code::kUnavailable, "the agent's workspace belongs to uid " + std::to_string(uid_) +
                                      ", as which this gateway can't run a tool; start it by beige up as root, or run all of Beige as a plain user");
}

// bubblewrap has told the pid of the cell's first process, which waits for its ids.
void Cell::MapIds() {
  char chunk[512];
  const ssize_t n = ::read(info_fd_.get(), chunk, sizeof chunk);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n > 0) info_.append(chunk, static_cast<size_t>(n));
  const auto child = ChildPidOf(info_);
  if (child && release_fd_) {
    if (auto mapped = WriteIdMaps(*child, {{0, 0, 1}, {uid_, uid_, 1}}, {{0, 0, 1}, {gid_, gid_, 1}}); !mapped) errors_ += mapped.error().message + "\n";
    release_fd_.Reset();  // goes on, and fails without its ids
  }
  if (n <= 0) info_watch_.reset();
}

Result<> Cell::TryMake() {
  BEIGE_TRY(CheckConfinement(host_.bwrap, host_.least));
  BEIGE_TRY(ChooseIds());
  const std::string binary = host_.sandbox_binary();
  if (binary.empty()) return Fail(Code::kUnavailable, "beige-sandbox is not installed in this home");
  BEIGE_TRY(MakeDirs(data_dir_, 0700));
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return FailErrno(errno, "socketpair");
  UniqueFd ours(pair[0]);
  UniqueFd theirs(pair[1]);
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) return FailErrno(errno, "pipe");
  errors_fd_.Reset(pipe_ends[0]);
  UniqueFd errors_theirs(pipe_ends[1]);
  const bool takes_ids = uid_ != ::geteuid();
  BEIGE_ASSIGN(const UniqueFd passwd, DataFd("passwd", CellPasswd(uid_, gid_)));
  BEIGE_ASSIGN(const UniqueFd group, DataFd("group", CellGroup(gid_)));
  BEIGE_ASSIGN(const UniqueFd nsswitch, DataFd("nsswitch", CellNsswitch()));

  SpawnRequest request;
  request.argv = CellCommand(host_.bwrap, {manifest_.get(), agent_.name, data_dir_, workspace_, binary, uid_, gid_, takes_ids});
  request.environment = {"PATH=/usr/bin:/bin"};
  request.fds = {{errors_theirs.get(), 2},
                 {theirs.get(), kCellSocketFd},
                 {passwd.get(), kCellPasswdFd},
                 {group.get(), kCellGroupFd},
                 {nsswitch.get(), kCellNsswitchFd}};
  UniqueFd info_theirs;
  UniqueFd block_theirs;
  if (takes_ids) {
    int info_ends[2];
    int block_ends[2];
    if (::pipe2(info_ends, O_CLOEXEC | O_NONBLOCK) != 0) return FailErrno(errno, "pipe");
    info_fd_.Reset(info_ends[0]);
    info_theirs.Reset(info_ends[1]);
    if (::pipe2(block_ends, O_CLOEXEC) != 0) return FailErrno(errno, "pipe");
    block_theirs.Reset(block_ends[0]);
    release_fd_.Reset(block_ends[1]);
    request.fds.insert(request.fds.end(), {{info_theirs.get(), kCellInfoFd}, {block_theirs.get(), kCellBlockFd}});
  }
  BEIGE_ASSIGN(pid_, Spawn(request));
  const pid_t pid = pid_;
  if (auto watched = host_.reaper.Watch(pid, [this](int status) { Exited(status); }); !watched) {
    pid_ = 0;
    return watched;
  }
  if (takes_ids) {
    info_.clear();
    info_watch_ = std::make_unique<FdWatch>(host_.loop, info_fd_.get());
    info_watch_->OnReadable([this] { MapIds(); });
  }
  errors_watch_ = std::make_unique<FdWatch>(host_.loop, errors_fd_.get());
  errors_watch_->OnReadable([this] { ReadErrors(); });
  channel_ = std::make_unique<JobChannel>(host_.loop, host_.batch, std::move(ours), this, &party_);
  return {};
}

void Cell::OnHello(const Hello&) {
  channel_->Accept();
  timer_.Cancel();
  settled_.Start(kSettled, [this] { pause_ = milliseconds(0); });
  Become(State::kUp);
}

// Either the stream or the process is noticed first; both lead here.
void Cell::OnDown(std::string_view) {
  if (pid_ != 0) host_.reaper.Kill(pid_);  // Exited follows
}

void Cell::Exited(int status) {
  pid_ = 0;
  ReadErrors();
  if (retired_) {
    LetGo();
    return;
  }
  const bool was_up = state_ == State::kUp;
  const std::string text = "its cell " + HowItEnded(status) + (errors_.empty() ? "" : ": " + errors_);
  timer_.Cancel();
  settled_.Cancel();
  if (was_up) {
    LogWarn("tool cell died; making it again", {{"agent", agent_.ToString()}, {"tool", manifest_->name}, {"how", text}});
    Become(State::kStarting);
  }
  LetGo();
  if (was_up && pause_.count() == 0) {
    pause_ = kFirstPause;
    Make();
  } else {
    Failed(text);
  }
}

void Cell::Failed(std::string reason) {
  reason_ = std::move(reason);
  pause_ = pause_.count() == 0 ? kFirstPause : std::min(pause_ * 2, kLastPause);
  timer_.Start(pause_, [this] { Make(); });
  Become(State::kFailed);
}

void Cell::Become(State state) {
  const bool changed = std::exchange(state_, state) != state;
  if (state != State::kStarting) {
    // A waiter that is told may start a job, await again, or go.
    const auto waiters = std::exchange(waiters_, {});
    for (CellWaiter* waiter : waiters) waiter->OnCell();
  }
  if (changed && on_change_) on_change_();
}

void Cell::ReadErrors() {
  char chunk[512];
  for (;;) {
    const ssize_t n = ::read(errors_fd_.get(), chunk, sizeof chunk);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (n <= 0) {
      if (errors_watch_) errors_watch_->OnReadable(nullptr);
      break;
    }
    if (errors_.size() < kMaxErrors) errors_.append(chunk, static_cast<size_t>(n));
  }
  while (!errors_.empty() && errors_.back() == '\n') errors_.pop_back();
}

std::string Cell::JobFields(const std::vector<std::string>& args, std::string_view call_id, std::string_view session,
                            std::string_view directory, std::chrono::milliseconds timeout, bool stdin_open) const {
  std::string fields = job_head_;
  for (const auto& arg : args) job::Arg(fields, arg);
  job::Env(fields, "BEIGE_CALL_ID", call_id);
  if (!session.empty()) job::Env(fields, "BEIGE_SESSION", session.substr(0, kMaxClaim));
  const bool beneath = manifest_->workspace != ToolWorkspace::kNone;
  if (beneath) job::Cwd(fields, DirectoryInWorkspace(directory));
  job::Flags(fields, BGE_FLAG_KILL_TREE | (beneath ? BGE_FLAG_BENEATH : 0u) | (stdin_open && manifest_->stdin_open ? BGE_FLAG_STDIN : 0u));
  const auto limit = timeout.count() > 0 ? std::min(timeout, manifest_->timeout) : manifest_->timeout;
  job::DeadlineMs(fields, static_cast<uint32_t>(std::clamp<int64_t>(limit.count(), 1, UINT32_MAX)));
  return fields;
}

}  // namespace beige
