#include "cage.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

extern char** environ;

namespace beige::sandbox_test {
namespace {

using Clock = std::chrono::steady_clock;

int LeftMs(Clock::time_point until) {
  return std::max(0, static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count()));
}

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::abort();
}

void CopyProgram(const std::string& from, const std::string& to, mode_t mode) {
  std::filesystem::copy_file(from, to);
  if (chmod(to.c_str(), mode) != 0) Die(to.c_str());
}

std::vector<std::string> BwrapArguments(const CageOptions& options, const std::string& home, int info_fd, int runner_fd) {
  std::vector<std::string> arguments;
  if (options.max_processes > 0) {
    arguments = {"prlimit", "--nproc=" + std::to_string(options.max_processes)};
  }
  const std::vector<std::string> bwrap = {
      "bwrap", "--unshare-user", "--uid", "1000", "--gid", "1000", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net",
      "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
      "--ro-bind", "/etc/alternatives", "/etc/alternatives", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
      "--ro-bind", home + "/link", "/beige", "--ro-bind", home + "/programs", "/t", "--symlink", "/beige/bin/beige-sandbox", "/tools/bin/kv",
      "--chdir", "/tmp", "--clearenv", "--setenv", "PATH", "/tools/bin:/usr/bin:/bin", "--setenv", "BASE", "base", "--setenv",
      "BEIGE_INSTANCE", "instance-1", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL", "--info-fd",
      std::to_string(info_fd), "/beige/bin/beige-sandbox"};
  arguments.insert(arguments.end(), bwrap.begin(), bwrap.end());
  if (options.runner) {
    arguments.insert(arguments.end(), {"runner", "--fd", std::to_string(runner_fd)});
  } else {
    arguments.emplace_back("init");
  }
  return arguments;
}

}  // namespace

Programs& ThePrograms() {
  static Programs programs;
  return programs;
}

JobSpec Shell(const std::string& script, uint32_t flags) {
  JobSpec spec;
  spec.argv = {"/bin/sh", "-c", script};
  spec.flags = flags;
  return spec;
}

Cage::Cage(const CageOptions& options) {
  std::string pattern = "/tmp/beige-cage-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) Die("mkdtemp");
  home_ = pattern;
  chmod(home_.c_str(), 0755);
  std::filesystem::create_directories(home_ + "/link/bin");
  std::filesystem::create_directories(home_ + "/programs");
  CopyProgram(ThePrograms().sandbox, home_ + "/link/bin/beige-sandbox", options.binary_mode);
  CopyProgram(ThePrograms().attacker, home_ + "/programs/attacker", 0755);
  gateway_listener_ = std::make_unique<Listener>(link() + "/gateway.sock");
  int pair[2] = {-1, -1};
  if (options.runner) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) Die("socketpair");
  } else {
    ListenAgain();
  }
  Launch(options, pair[1]);
  if (options.runner) {
    close(pair[1]);
    control_ = std::make_unique<Channel>(pair[0]);
  }
  if (options.register_now && !Register()) {
    std::fprintf(stderr, "the sandbox did not register\n");
    std::abort();
  }
}

Cage::~Cage() {
  control_.reset();
  if (pid1_ > 0 && bwrap_ > 0) kill(pid1_, SIGKILL);
  if (bwrap_ > 0) {
    kill(bwrap_, SIGKILL);
    waitpid(bwrap_, nullptr, 0);
  }
  control_listener_.reset();
  gateway_listener_.reset();
  std::filesystem::remove_all(home_);
}

void Cage::Launch(const CageOptions& options, int runner_fd) {
  int info[2];
  if (pipe2(info, O_CLOEXEC) != 0) Die("pipe2");
  constexpr int kInfoFd = 50, kRunnerFd = 51;
  const std::vector<std::string> words = BwrapArguments(options, home_, kInfoFd, kRunnerFd);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, info[1], kInfoFd);
  if (runner_fd >= 0) posix_spawn_file_actions_adddup2(&actions, runner_fd, kRunnerFd);
  if (posix_spawnp(&bwrap_, argv[0], &actions, nullptr, argv.data(), environ) != 0) Die("bwrap");
  posix_spawn_file_actions_destroy(&actions);
  close(info[1]);
  std::string json;
  char chunk[512];
  ssize_t got;
  while ((got = read(info[0], chunk, sizeof chunk)) > 0) json.append(chunk, static_cast<size_t>(got));
  close(info[0]);
  const size_t at = json.find("\"child-pid\":");
  if (at == std::string::npos) Die("bwrap made no sandbox");
  pid1_ = static_cast<pid_t>(std::strtol(json.c_str() + at + 12, nullptr, 10));
}

void Cage::ListenAgain() {
  control_listener_.reset();
  control_listener_ = std::make_unique<Listener>(link() + "/control.sock");
}

std::optional<Channel> Cage::AcceptControl(std::string* hello) {
  auto channel = control_listener_->Accept();
  if (!channel) return std::nullopt;
  const auto preamble = channel->ReadBytes(BGE_PREAMBLE_BYTES);
  if (!preamble || *preamble != Preamble(BGE_ROLE_CONTROL)) return std::nullopt;
  channel->SendBytes(Preamble(BGE_ROLE_CONTROL));
  const auto frame = channel->Next();
  if (!frame || frame->kind != BGE_HELLO) return std::nullopt;
  *hello = frame->payload;
  return channel;
}

bool Cage::Register() {
  if (control_ != nullptr) {  // a cell's runner
    const auto preamble = control_->ReadBytes(BGE_PREAMBLE_BYTES);
    if (!preamble || *preamble != Preamble(BGE_ROLE_CONTROL)) return false;
    control_->SendBytes(Preamble(BGE_ROLE_CONTROL));
    const auto frame = control_->Next();
    if (!frame || frame->kind != BGE_HELLO) return false;
    hello_ = frame->payload;
    return control_->Send(0, BGE_REGISTERED);
  }
  auto channel = AcceptControl(&hello_);
  if (!channel) return false;
  control_ = std::make_unique<Channel>(std::move(*channel));
  return control_->Send(0, BGE_REGISTERED);
}

uint32_t Cage::Start(const JobSpec& spec) {
  std::string fields;
  for (const std::string& argument : spec.argv) fields += FieldOf(BGE_TAG_ARG, argument);
  for (const std::string& entry : spec.env) fields += FieldOf(BGE_TAG_ENV, entry);
  if (!spec.cwd.empty()) fields += FieldOf(BGE_TAG_CWD, spec.cwd);
  fields += FieldOf(BGE_TAG_FLAGS, U32(spec.flags));
  if (spec.deadline_ms != 0) fields += FieldOf(BGE_TAG_DEADLINE, U32(spec.deadline_ms));
  if (spec.tty) fields += FieldOf(BGE_TAG_TTY, U32(static_cast<uint32_t>(spec.columns) | static_cast<uint32_t>(spec.rows) << 16));
  const uint32_t call = next_call_++;
  control_->Send(call, BGE_JOB, fields);
  return call;
}

void Cage::Take(const Frame& frame, Outcome* outcome) {
  switch (frame.kind) {
    case BGE_STDOUT:
    case BGE_STDERR:
      (frame.kind == BGE_STDOUT ? outcome->out : outcome->err) += frame.payload;
      control_->Send(frame.call, BGE_WINDOW, U32(static_cast<uint32_t>(frame.payload.size())), frame.kind == BGE_STDOUT ? 1 : 2);
      return;
    case BGE_WINDOW:
      outcome->input_credit += ReadU32(frame.payload);
      return;
    case BGE_STARTED:
      outcome->started_pid = ReadU32(frame.payload);
      return;
    case BGE_EXIT:
      outcome->ended = true;
      outcome->how = frame.payload.at(0);
      outcome->code = static_cast<int>(ReadU32(frame.payload, 1));
      outcome->text = frame.payload.substr(5);
      return;
    default:
      return;
  }
}

Outcome& Cage::PartialOf(uint32_t call) {
  for (auto& [partial_call, outcome] : partial_)
    if (partial_call == call) return outcome;
  return partial_.emplace_back(call, Outcome{}).second;
}

Outcome Cage::Finish(uint32_t call, int patience_ms) {
  const auto until = Clock::now() + std::chrono::milliseconds(patience_ms);
  while (!PartialOf(call).ended) {
    const auto frame = control_->Next(LeftMs(until));
    if (!frame) break;
    if (frame->call != 0) Take(*frame, &PartialOf(frame->call));
  }
  Outcome outcome = PartialOf(call);
  std::erase_if(partial_, [&](const auto& entry) { return entry.first == call; });
  return outcome;
}

bool Cage::WaitForOutput(uint32_t call, const std::string& text) {
  const auto until = Clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (PartialOf(call).out.find(text) == std::string::npos) {
    const auto frame = control_->Next(LeftMs(until));
    if (!frame || PartialOf(call).ended) return false;
    if (frame->call != 0) Take(*frame, &PartialOf(frame->call));
  }
  return true;
}

bool Cage::WaitForLength(uint32_t call, size_t length) {
  const auto until = Clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (PartialOf(call).out.size() < length) {
    const auto frame = control_->Next(LeftMs(until));
    if (!frame || PartialOf(call).ended) return false;
    if (frame->call != 0) Take(*frame, &PartialOf(frame->call));
  }
  return true;
}

bool Cage::Alive(int patience_ms) {
  const auto until = Clock::now() + std::chrono::milliseconds(patience_ms);
  control_->Send(0, BGE_PING, "12345678");
  while (const auto frame = control_->Next(LeftMs(until))) {
    if (frame->kind == BGE_PONG) return frame->payload == "12345678";
    if (frame->call != 0) Take(*frame, &PartialOf(frame->call));
  }
  return false;
}

bool Cage::Ends(int patience_ms) {
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, bwrap_, 0));
  pollfd poll_fd{pidfd, POLLIN, 0};
  const bool ended = poll(&poll_fd, 1, patience_ms) == 1;
  close(pidfd);
  if (!ended) return false;
  waitpid(bwrap_, nullptr, 0);
  bwrap_ = -1;
  return true;
}

}  // namespace beige::sandbox_test
