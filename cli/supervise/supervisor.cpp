#include "cli/supervise/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/files.h"
#include "base/log.h"
#include "base/spawn.h"

namespace beige::cli {
namespace {
constexpr off_t kLogLimit = 16 << 20;

Result<UniqueFd> OpenLog(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0 && st.st_size > kLogLimit) ::rename(path.c_str(), (path + ".1").c_str());
  // The gateway writes in this directory too: what it may have put there must neither block nor lead elsewhere.
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!fd) return FailErrno(errno, "open log " + path);
  if (::fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)) return Fail(Code::kInvalid, path + ": is no regular file; remove it");
  return fd;
}

std::string DescribeEnd(int status) {
  if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  // bubblewrap and shells say so of a child that a signal ended.
  if (code > 128 && code <= 128 + 64) return "killed by signal " + std::to_string(code - 128);
  return "exited with " + std::to_string(code);
}

void SignalPidFd(int pidfd, int signal) { ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0); }

int Millis(std::chrono::nanoseconds left) {
  return static_cast<int>(
      std::clamp<long long>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 0, 1 << 30));
}
}  // namespace

struct Supervisor::Child {
  Service service;
  ServiceState state;
  RestartBackoff backoff;
  std::optional<SteadyTime> due = SteadyTime::min();  // of the next start; nullopt while running or stopped for good
  SteadyTime started;
  pid_t pid = 0;      // our own child: the process itself or its bubblewrap
  UniqueFd pidfd;     // of `pid`
  UniqueFd serving;   // pidfd of the process inside bubblewrap
  UniqueFd info;      // where bubblewrap writes that pid; open until it has
  UniqueFd release;          // closed when the ids are mapped
  std::vector<IdMap> ids;
  std::string info_text;
};

Supervisor::Supervisor(std::vector<Service> services, const Clock& clock) : clock_(clock) {
  for (auto& service : services) {
    auto child = std::make_unique<Child>();
    child->service = std::move(service);
    children_.push_back(std::move(child));
  }
}

Supervisor::~Supervisor() {
  for (auto& child : children_) {
    if (child->pid == 0) continue;
    Signal(*child, SIGKILL);
    ::kill(child->pid, SIGKILL);
    while (::waitpid(child->pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

const ServiceState& Supervisor::state(size_t index) const { return children_.at(index)->state; }

bool Supervisor::StartDue() {
  bool started = false;
  for (auto& child : children_) {
    if (!child->due || *child->due > clock_.Now()) continue;
    Start(*child);
    started = true;
  }
  return started;
}

void Supervisor::Start(Child& child) {
  child.due.reset();
  child.started = clock_.Now();
  ++child.state.starts;
  const auto attempt = [&]() -> Result<> {
    BEIGE_ASSIGN(const Launch launch, child.service.prepare());
    BEIGE_ASSIGN(const UniqueFd log, OpenLog(child.service.log));
    SpawnRequest request;
    request.argv = launch.argv;
    request.environment = launch.environment;
    request.fds = {{log.get(), 1}, {log.get(), 2}};
    // Away from the terminal of a foreground `beige up`: whoever has it may type into the person's shell (TIOCSTI). Ctrl-C comes to the
    // supervisor alone, which stops its children.
    request.new_session = true;
    UniqueFd write_end;
    if (launch.through_bubblewrap) {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return FailErrno(errno, "pipe");
      child.info.Reset(ends[0]);
      write_end.Reset(ends[1]);
      request.fds.emplace_back(write_end.get(), 3);
    }
    UniqueFd held;
    child.ids = launch.ids;
    if (!launch.ids.empty()) {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0) return FailErrno(errno, "pipe");
      held.Reset(ends[0]);
      child.release.Reset(ends[1]);
      request.fds.emplace_back(held.get(), 4);
    }
    BEIGE_ASSIGN(child.pid, Spawn(request));
    BEIGE_ASSIGN(child.pidfd, OpenPidFd(child.pid));
    if (!launch.through_bubblewrap) child.state.pid = child.pid;
    return {};
  };
  if (const auto started = attempt(); !started) {
    child.info.Reset();
    child.release.Reset();
    child.state.last_end = started.error().message;
    const auto delay = child.backoff.AfterRunOf({});
    child.due = clock_.Now() + delay;
    LogError("process not started", {{"process", child.service.name}, {"error", started.error().message}});
    return;
  }
  child.state.running = true;
  LogInfo("process started", {{"process", child.service.name}, {"start", std::to_string(child.state.starts)}});
}

void Supervisor::ReadInfo(Child& child) {
  char buffer[512];
  const ssize_t n = ::read(child.info.get(), buffer, sizeof buffer);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n > 0) child.info_text.append(buffer, static_cast<size_t>(n));
  if (const auto pid = ChildPidOf(child.info_text)) {
    child.state.pid = *pid;
    if (!child.serving) {
      if (auto fd = OpenPidFd(child.state.pid)) child.serving = std::move(*fd);
    }
    if (child.release) {
      // bubblewrap goes on when the pipe closes, and can't without maps.
      if (auto mapped = WriteIdMaps(*pid, child.ids, child.ids); !mapped) LogError("uids not mapped", {{"process", child.service.name}, {"error", mapped.error().message}});
      child.release.Reset();
    }
  }
  // Read to the end: bubblewrap writes in pieces, and a closed pipe would end it with SIGPIPE.
  if (n <= 0) {
    child.info.Reset();
    child.info_text.clear();
  }
}

void Supervisor::Reap(Child& child) {
  int status = 0;
  if (::waitpid(child.pid, &status, WNOHANG) != child.pid) return;
  child.state.last_end = DescribeEnd(status);
  child.state.pid = 0;
  child.state.running = false;
  child.pid = 0;
  child.pidfd.Reset();
  child.serving.Reset();
  child.info.Reset();
  child.info_text.clear();
  const auto now = clock_.Now();
  const auto delay = child.backoff.AfterRunOf(now - child.started);
  child.due = now + delay;
  LogWarn("process ended", {{"process", child.service.name},
                            {"end", child.state.last_end},
                            {"restartIn", FormatDuration(delay)}});
}

void Supervisor::RunOnce(std::chrono::milliseconds max_wait, std::initializer_list<int> wake_fds) {
  // A start changes the state, which the caller is to see at once.
  std::chrono::nanoseconds wait = StartDue() ? std::chrono::milliseconds(0) : max_wait;
  std::vector<pollfd> entries;
  std::vector<Child*> owners;
  for (auto& child : children_) {
    if (child->due) wait = std::min<std::chrono::nanoseconds>(wait, *child->due - clock_.Now());
    if (child->pidfd) {
      entries.push_back({child->pidfd.get(), POLLIN, 0});
      owners.push_back(child.get());
    }
    if (child->info) {
      entries.push_back({child->info.get(), POLLIN, 0});
      owners.push_back(child.get());
    }
  }
  for (const int fd : wake_fds) entries.push_back({fd, POLLIN, 0});  // poll passes over negative ones
  if (::poll(entries.data(), entries.size(), Millis(wait)) <= 0) return;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (entries[i].revents == 0) continue;
    Child& child = *owners[i];
    if (entries[i].fd == child.info.get()) {
      ReadInfo(child);
    } else if (entries[i].fd == child.pidfd.get()) {
      Reap(child);
    }
  }
}

void Supervisor::Signal(Child& child, int signal) {
  // The process inside bubblewrap gets it directly: bubblewrap passes no signal on, and its own end would kill without grace.
  if (child.serving) {
    SignalPidFd(child.serving.get(), signal);
  } else if (child.pidfd) {
    SignalPidFd(child.pidfd.get(), signal);
  }
}

void Supervisor::Restart(size_t index) { Signal(*children_.at(index), SIGTERM); }

void Supervisor::Stop(std::chrono::milliseconds grace) {
  for (auto& child : children_) child->due.reset();
  for (auto it = children_.rbegin(); it != children_.rend(); ++it) {
    const auto& child = *it;
    if (child->pid == 0) continue;
    if (child->info) ReadInfo(*child);
    Signal(*child, SIGTERM);
    pollfd entry{child->pidfd.get(), POLLIN, 0};
    const auto deadline = std::chrono::steady_clock::now() + grace;
    int ready = 0;
    do {
      ready = ::poll(&entry, 1, Millis(deadline - std::chrono::steady_clock::now()));
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
      LogWarn("process did not end in time; killed", {{"process", child->service.name}, {"grace", FormatDuration(grace)}});
      Signal(*child, SIGKILL);
      ::kill(child->pid, SIGKILL);
      ::poll(&entry, 1, -1);
    }
    Reap(*child);
    child->due.reset();
  }
}

}  // namespace beige::cli
