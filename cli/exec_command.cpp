#include "cli/exec_command.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/unix_socket.h"
#include "cli/exec/exec_session.h"
#include "cli/exec/terminal.h"
#include "cli/report.h"

namespace beige::cli {
namespace {
constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};

int Failed(const std::string& message) { return Report("exec", kExecFailed, message); }

Result<ExecRequest> ToRequest(const Globals& globals, const ExecOptions& options) {
  ExecRequest request;
  request.agent = globals.Key(options.name);
  request.argv = options.command;
  request.env = options.env;
  request.cwd = options.workdir;
  request.interactive = options.interactive;
  request.tty = options.tty;
  if (request.argv.empty() || request.argv.front().empty()) return Fail(Code::kInvalid, "want a command after --, such as: beige exec " + options.name + " -- ls");
  for (const auto& entry : request.env) {
    if (entry.find('=') == std::string::npos || entry.starts_with("=")) return Fail(Code::kInvalid, "--env: want KEY=VALUE, got \"" + entry + "\"");
  }
  if (!options.timeout.empty()) {
    const auto timeout = ParseDuration(options.timeout);
    if (!timeout || timeout->count() <= 0 || timeout->count() > INT32_MAX) {
      return Fail(Code::kInvalid, "--timeout: want a duration such as 30s, got \"" + options.timeout + "\"");
    }
    request.timeout = *timeout;
  }
  for (const auto& argument : request.argv) {
    if (argument.size() > BGE_MAX_ARG) return Fail(Code::kInvalid, "an argument has " + std::to_string(argument.size()) + " bytes; the limit is 131072, pass it on stdin with -i");
  }
  if (EncodeExecRequest(request, {}).size() > BGE_MAX_REQUEST) return Fail(Code::kInvalid, "command and environment are larger than the limit of 1 MiB; pass it on stdin with -i");
  return request;
}

// The command's own words are on stderr already; this line is ours.
void Explain(const v2::Exit& exit, const ExecOptions& options) {
  std::string text = exit.text;
  if (text.starts_with("beige: ")) text.erase(0, 7);
  if (text.empty() && exit.how == BGE_HOW_TIMEOUT) text = options.command.front() + ": timed out" + (options.timeout.empty() ? "" : " after " + options.timeout);
  if (text.empty() && exit.how == BGE_HOW_LOST) text = options.command.front() + ": the sandbox or the gateway went away; see 'beige describe agent " + options.name + "'";
  if (text.empty() && exit.how == BGE_HOW_DENIED) text = options.command.front() + ": denied";
  if (text.empty() && exit.how == BGE_HOW_FAILED) text = options.command.front() + ": not started";
  const bool ours = exit.how != BGE_HOW_EXITED && exit.how != BGE_HOW_SIGNALED;
  if (ours && !text.empty()) PrintError("exec", text);
}
}  // namespace

int RunExec(const Globals& globals, const ExecOptions& options) {
  auto request = ToRequest(globals, options);
  if (!request) return Failed(request.error().message);
  const HomePaths paths = globals.paths();
  auto socket = ConnectUnix(paths.CliSocket());
  if (!socket) {
    return Failed("the gateway is not running (" + paths.CliSocket() + ": nobody listens there); start it with 'beige up'");
  }
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kForwarded) sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const UniqueFd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  Result<v2::Exit> exit = Fail(Code::kInternal, "");
  {
    const bool raw = options.tty && options.interactive;
    const RawTerminal terminal(raw ? STDIN_FILENO : -1);
    ExecSession session(std::move(*socket), std::move(*request), {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, signals.get()});
    exit = session.Run();
  }
  if (!exit) {
    PrintError("exec", exit.error().message);
    return exit.error().code == Code::kTimeout ? kTimedOut : kExecFailed;
  }
  Explain(*exit, options);
  return ExitStatusOf(*exit);
}

}  // namespace beige::cli
