#include "cli/up.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/spawn.h"
#include "cli/processes.h"
#include "cli/report.h"
#include "cli/supervise/home_dirs.h"
#include "cli/supervise/services.h"
#include "cli/supervise/up_lock.h"
#include "cli/watch.h"

namespace beige::cli {
namespace {
using std::chrono::milliseconds;
constexpr auto kStartLimit = std::chrono::seconds(30);
constexpr auto kGrace = std::chrono::seconds(10);
// How long an answering pair waits for the engine's first word, so that `up` can say which engine there is.
constexpr auto kEngineWord = std::chrono::seconds(2);
// So many starts may fail before the first success; after it a process is started again for ever.
constexpr int kFirstStarts = 3;
constexpr const char* kSupervisorLog = "beige";

// Descriptors that the caller left open must not live on in a process that outlives it.
void CloseOnExecAll() {
  DIR* directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return;
  while (const dirent* entry = ::readdir(directory)) {
    const int fd = std::atoi(entry->d_name);
    if (fd > 2 && fd != ::dirfd(directory)) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  ::closedir(directory);
}

std::string Address(int port) { return "127.0.0.1:" + std::to_string(port); }

std::string SummaryLine(const HomePaths& paths) {
  std::string line = "beige is up: home " + paths.home();
  if (const auto gateway = ReadGatewayInfo(paths)) line += ", HTTP " + Address(gateway->http_port) + ", metrics " + Address(gateway->metrics_port);
  if (const auto info = ReadOperatorInfo(paths)) {
    line += " and " + Address(info->metrics_port) + ", engine ";
    if (info->engine_type.empty()) {
      line += info->engine_state == "asking" ? "has not answered yet" : "not found yet";
    } else {
      line += info->engine_type + (info->engine_version.empty() ? "" : " " + info->engine_version);
    }
  }
  return line;
}

// The foreground supervisor of one home, from the lock to the end of both processes.
class Foreground {
 public:
  Foreground(const Globals& globals, const UpOptions& options) : paths_(globals.home), ready_fd_(options.ready_fd) {}

  int Run() {
    if (auto ok = Prepare(); !ok) return Fails(StatusOf(ok.error().code), ok.error().message);
    const PrivilegeSplit split = ProbePrivilegeSplit(paths_);
    info_.pid = ::getpid();
    info_.privilege_split = split.kind;
    info_.privilege_reason = split.reason;
    info_.start_time = FormatTime(clock_.WallNow());
    if (split.kind == "none") {
      LogWarn("the gateway runs without a view of its own and can reach the container engine", {{"reason", split.reason}});
      Say("warning: privilege split none: " + split.reason);
    } else if (!split.reason.empty()) {
      LogWarn("the gateway is root", {{"reason", split.reason}});
      Say("warning: " + split.reason);
    }
    watch_.Add(paths_.home());
    Supervisor supervisor(ServicesOf(paths_, split, view_), clock_);
    const int status = Supervise(supervisor);
    supervisor.Stop(kGrace);
    static_cast<void>(RemoveFile(paths_.SupervisorInfo()));
    LogInfo("down");
    // Told only now: whoever waits may try again at once.
    if (!failure_.empty()) return Fails(status, failure_);
    return status;
  }

 private:
  Result<> Prepare() {
    BEIGE_TRY(PrepareHome(paths_));
    BEIGE_ASSIGN(lock_, TakeUpLock(paths_));
    if (::chdir(paths_.home().c_str()) != 0) return FailErrno(errno, "enter " + paths_.home());
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    signals_.Reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_) return FailErrno(errno, "signalfd");
    return {};
  }

  int Supervise(Supervisor& supervisor) {
    const auto limit = clock_.Now() + kStartLimit;
    bool ready = false;
    std::optional<SteadyTime> answered;
    for (;;) {
      // Until both answer their files are looked at; after that only ends, signals and changes of the home or of masked directories
      // wake the loop, and once a minute it looks for an engine that was started since.
      supervisor.RunOnce(!ready ? milliseconds(10) : !masks_watched_ ? milliseconds(100) : milliseconds(60000), {signals_.get(), watch_.fd()});
      watch_.Clear();
      Record(supervisor);
      signalfd_siginfo signal{};
      if (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
        LogInfo("stopping", {{"signal", std::to_string(signal.ssi_signo)}});
        Say("stopping");
        return kDone;
      }
      if (ready) {
        KeepView(supervisor);
        continue;
      }
      if (GatewayAnswers(paths_, info_.gateway_pid) && OperatorAnswers(paths_, info_.operator_pid)) {
        if (!answered) answered = clock_.Now();
        const auto info = ReadOperatorInfo(paths_);
        if (info && info->engine_state == "asking" && clock_.Now() < *answered + kEngineWord) continue;
        ready = true;
        LogInfo("ready");
        Say(SummaryLine(paths_));
        Tell("ready");
        KeepView(supervisor);
        continue;
      }
      if (StartFailed(supervisor)) return kFailed;
      if (clock_.Now() > limit) {
        const bool gateway = GatewayAnswers(paths_, info_.gateway_pid);
        failure_ = std::string(gateway ? kOperatorProcess : kGatewayProcess) + " did not answer within " + FormatDuration(kStartLimit) +
                   "; its log is " + paths_.ProcessLog(gateway ? kOperatorProcess : kGatewayProcess);
        return kTimedOut;
      }
    }
  }

  void KeepView(Supervisor& supervisor) {
    if (!supervisor.state(kGatewayIndex).running) return;
    // Watched first, compared then: what is removed or made anew after the comparison wakes the loop. What is not there now may come back
    // unmasked at any moment, so it is looked for again soon, whatever it is by then.
    masks_watched_ = true;
    if (*view_) {
      for (const auto& directory : (*view_)->masked) masks_watched_ = watch_.AddSelf(directory) && masks_watched_;
    }
    const std::string directory = UnmaskedEngine(paths_, view_);
    if (directory.empty()) return;
    LogWarn("the gateway starts again behind a view without this engine", {{"directory", directory}});
    view_->reset();  // asked once, not again until the next start
    supervisor.Restart(kGatewayIndex);
  }

  bool StartFailed(const Supervisor& supervisor) {
    for (const size_t index : {kGatewayIndex, kOperatorIndex}) {
      const ServiceState& state = supervisor.state(index);
      if (state.running || state.starts < kFirstStarts) continue;
      const char* name = index == kGatewayIndex ? kGatewayProcess : kOperatorProcess;
      const std::string word = LastLogWord(paths_.ProcessLog(name));
      failure_ = std::string(name) + " does not start (" + state.last_end + ")" + (word.empty() ? "" : ": " + word) + "; its log is " +
                 paths_.ProcessLog(name);
      return true;
    }
    return false;
  }

  void Record(const Supervisor& supervisor) {
    SupervisorInfo now = info_;
    now.gateway_pid = supervisor.state(kGatewayIndex).pid;
    now.operator_pid = supervisor.state(kOperatorIndex).pid;
    if (now == info_ && recorded_) return;
    info_ = now;
    recorded_ = WriteFileAtomic(paths_.SupervisorInfo(), EncodeSupervisorInfo(info_), 0600).has_value();
  }

  // To the person at a foreground `up`; the detached one has a log.
  void Say(const std::string& line) {
    if (ready_fd_ < 0) PrintLine(line);
  }

  // One line to the process that waits for the start, then no more.
  void Tell(const std::string& line) {
    if (ready_fd_ < 0 || told_) return;
    const std::string text = line + "\n";
    static_cast<void>(::write(ready_fd_, text.data(), text.size()) > 0);
    ::close(ready_fd_);
    told_ = true;
  }

  int Fails(int status, const std::string& message) {
    if (ready_fd_ < 0) {
      PrintError("up", message);
    } else {
      LogError("not up", {{"error", message}});
      Tell("failed " + std::to_string(status) + " " + message);
    }
    return status;
  }

  HomePaths paths_;
  int ready_fd_;
  bool told_ = false;
  bool recorded_ = false;
  bool masks_watched_ = true;
  RealClock clock_;
  UniqueFd lock_;
  UniqueFd signals_;
  Watch watch_;
  const ViewInForce view_ = std::make_shared<std::optional<GatewayView>>();
  SupervisorInfo info_;
  std::string failure_;
};

int RunDetached(const Globals& globals) {
  const HomePaths paths = globals.paths();
  // Asked before the log is opened: a refused `up` must not disturb the one that runs.
  if (const auto pid = SupervisorOf(paths)) {
    return Report("up", kFailed, "this home is already up (pid " + std::to_string(*pid) + ", home " + paths.home() +
                                     "); see 'beige status', or stop it first with 'beige down'");
  }
  if (const auto prepared = PrepareHome(paths); !prepared) return Report("up", prepared.error());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Report("up", kFailed, "pipe failed");
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const std::string log_path = paths.ProcessLog(kSupervisorLog);
  UniqueFd log(::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));  // the gateway may have left a FIFO there
  if (!log) return Report("up", FailErrno(errno, "open " + log_path).value());
  SpawnRequest request;
  request.argv = {ExecutableDir() + "/beige", "up", "--home", paths.home(), "--ready-fd", "3"};
  request.environment = CurrentEnvironment();
  request.fds = {{log.get(), 1}, {log.get(), 2}, {writer.get(), 3}};
  request.new_session = true;
  const auto pid = Spawn(request);
  if (!pid) return Report("up", pid.error());
  writer.Reset();

  std::string answer;
  char buffer[4096];
  ssize_t n = 0;
  while ((n = ::read(reader.get(), buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR)) {
    if (n > 0) answer.append(buffer, static_cast<size_t>(n));
  }
  while (answer.ends_with('\n')) answer.pop_back();
  if (answer == "ready") {
    const auto info = ReadSupervisorInfo(paths);
    PrintLine(SummaryLine(paths));
    if (info && info->privilege_split == "none") PrintWarning("up", "privilege split none: " + info->privilege_reason);
    if (info && info->privilege_split == "namespace" && !info->privilege_reason.empty()) PrintWarning("up", info->privilege_reason);
    return kDone;
  }
  // Whoever hears of the failure may try again at once, and must not find the home taken by what is still ending.
  while (::waitpid(*pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (answer.starts_with("failed ")) {
    char* end = nullptr;
    const long status = std::strtol(answer.c_str() + 7, &end, 10);
    return Report("up", static_cast<Status>(status), *end == ' ' ? end + 1 : end);
  }
  return Report("up", kFailed, "the supervisor ended without a word; its log is " + log_path);
}
}  // namespace

int RunUp(const Globals& globals, const UpOptions& options) {
  CloseOnExecAll();
  if (options.detach) return RunDetached(globals);
  InitLog("supervisor", options.ready_fd < 0 ? LogLevel::kWarn : LogLevel::kInfo);
  return Foreground(globals, options).Run();
}

}  // namespace beige::cli
