#include "cli/exec/exec_session.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/unix_socket.h"
#include "cli/exec/terminal.h"

namespace beige::cli {
namespace {
constexpr uint32_t kCall = 1;
constexpr size_t kReturnCredit = BGE_WINDOW_INITIAL / 4;
// The gateway ends a command at its deadline plus 2 s of grace; who hears nothing by then waits for a dead gateway.
constexpr auto kPatience = std::chrono::seconds(10);
// How long a command may go on after SIGPIPE.
constexpr auto kBrokenGrace = std::chrono::seconds(2);
// A person who presses Ctrl-C so often wants out, whatever the command makes of it.
constexpr int kLastInterrupt = 4;

// A blocking write of at most PIPE_BUF bytes doesn't block once poll said writable; a file never does.
size_t SafeWriteSize(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? 1u << 20 : 4096;
}
}  // namespace

std::string EncodeExecRequest(const ExecRequest& request, v2::TerminalSize size) {
  std::string fields;
  v2::AppendField(fields, BGE_TAG_NAMESPACE, request.agent.namespace_);
  v2::AppendField(fields, BGE_TAG_AGENT, request.agent.name);
  for (const auto& argument : request.argv) v2::AppendField(fields, BGE_TAG_ARG, argument);
  for (const auto& entry : request.env) v2::AppendField(fields, BGE_TAG_ENV, entry);
  if (!request.cwd.empty()) v2::AppendField(fields, BGE_TAG_CWD, request.cwd);
  if (request.interactive) v2::AppendU32Field(fields, BGE_TAG_FLAGS, BGE_FLAG_STDIN);
  if (request.timeout.count() > 0) v2::AppendU32Field(fields, BGE_TAG_DEADLINE, static_cast<uint32_t>(request.timeout.count()));
  if (request.tty) v2::AppendField(fields, BGE_TAG_TTY, v2::EncodeSize(size));
  return fields;
}

int ExitStatusOf(const v2::Exit& exit) {
  switch (exit.how) {
    case BGE_HOW_EXITED: return exit.code & 255;
    case BGE_HOW_SIGNALED: return 128 + (exit.code & 127);
    case BGE_HOW_TIMEOUT: return 124;
    case BGE_HOW_LOST: return 125;
    case BGE_HOW_DENIED: return exit.code == 127 ? 127 : 126;
    case BGE_HOW_FAILED: return exit.code >= 125 && exit.code <= 127 ? exit.code : 125;
    default: return 125;
  }
}

ExecSession::ExecSession(UniqueFd socket, ExecRequest request, ExecStreams streams)
    : socket_(std::move(socket)),
      request_(std::move(request)),
      streams_(streams),
      stdout_{streams.out, 1, "", 0, 0, false},
      stderr_{streams.err, 2, "", 0, 0, false},
      stdin_open_(request_.interactive) {
  v2::Preamble preamble;
  preamble.role = BGE_ROLE_CLI;
  out_ = v2::EncodePreamble(preamble);
  v2::AppendFrame(out_, kCall, BGE_EXEC, EncodeExecRequest(request_, CurrentTerminalSize()));
  if (request_.timeout.count() > 0) give_up_ = std::chrono::steady_clock::now() + request_.timeout + kPatience;
}

Result<v2::Exit> ExecSession::Run() {
  BEIGE_TRY(SetNonBlocking(socket_.get()));
  while (!exit_ || !Drained()) BEIGE_TRY(Step());
  return *exit_;
}

bool ExecSession::Drained() const { return stdout_.pending.empty() && stderr_.pending.empty(); }

Result<> ExecSession::Step() {
  const auto wanted = [](bool yes, int fd) { return yes ? fd : -1; };
  const bool feeding = stdin_open_ && !exit_ && stdin_window_ > 0 && out_.size() < BGE_WINDOW_INITIAL;
  pollfd entries[] = {
      {wanted(!exit_, socket_.get()), static_cast<short>(POLLIN | (out_.empty() ? 0 : POLLOUT)), 0},
      {wanted(feeding, streams_.in), POLLIN, 0},
      {wanted(!stdout_.pending.empty(), stdout_.fd), POLLOUT, 0},
      {wanted(!stderr_.pending.empty(), stderr_.fd), POLLOUT, 0},
      {streams_.signals, POLLIN, 0},
  };
  int timeout = -1;
  PollTimeout(timeout);
  const int ready = ::poll(entries, std::size(entries), timeout);
  if (ready < 0 && errno != EINTR) return FailErrno(errno, "poll");
  if (give_up_ && !exit_ && std::chrono::steady_clock::now() >= *give_up_) {
    // A command that goes on although nobody reads it ends with this program: the gateway ends what nobody waits for.
    if (broken_) {
      exit_ = v2::Exit{BGE_HOW_SIGNALED, SIGPIPE, ""};
      return {};
    }
    return Fail(Code::kTimeout, "no answer after " + FormatDuration(request_.timeout) + " and " + FormatDuration(kPatience) + " of grace");
  }
  if (ready <= 0) return {};
  if (entries[4].revents != 0) ReadSignals();
  if (interrupts_ >= kLastInterrupt) return Fail(Code::kUnavailable, "interrupted; the command was left to the gateway");
  if (entries[2].revents != 0) WriteSink(stdout_);
  if (entries[3].revents != 0) WriteSink(stderr_);
  if (entries[1].revents != 0) ReadStdin();
  // What is queued goes out before a farewell is read: the gateway may have closed after its last frame.
  if (!out_.empty() && !exit_) BEIGE_TRY(WriteSocket());
  if ((entries[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) BEIGE_TRY(ReadSocket());
  return {};
}

void ExecSession::PollTimeout(int& timeout) const {
  if (!give_up_ || exit_) return;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*give_up_ - std::chrono::steady_clock::now()).count();
  timeout = static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
}

Result<> ExecSession::ReadSocket() {
  char buffer[65536];
  const ssize_t n = ::recv(socket_.get(), buffer, sizeof buffer, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (n <= 0) return Fail(Code::kUnavailable, "the gateway went away before the command ended; see 'beige logs', then try again");
  std::string_view bytes(buffer, static_cast<size_t>(n));
  if (!agreed_) {
    const size_t take = std::min(bytes.size(), BGE_PREAMBLE_BYTES - preamble_.size());
    preamble_.append(bytes.substr(0, take));
    bytes.remove_prefix(take);
    if (preamble_.size() < BGE_PREAMBLE_BYTES) return {};
    BEIGE_ASSIGN(const v2::Preamble answer, v2::DecodePreamble(preamble_));
    if (answer.max < BGE_VERSION_MIN || answer.max > BGE_VERSION_MAX) {
      return Fail(Code::kUnavailable, "the gateway speaks no protocol version that this program knows; install the same version of both, then 'beige down' and 'beige up'");
    }
    agreed_ = true;
  }
  reader_.Feed(bytes);
  return TakeFrames();
}

Result<> ExecSession::TakeFrames() {
  while (!exit_) {
    BEIGE_ASSIGN(const auto frame, reader_.Next());
    if (!frame) return {};
    BEIGE_TRY(TakeFrame(*frame));
  }
  return {};
}

Result<> ExecSession::TakeFrame(const v2::FrameReader::Frame& frame) {
  switch (frame.header.kind) {
    case BGE_STDOUT:
    case BGE_STDERR: {
      Sink& sink = frame.header.kind == BGE_STDOUT ? stdout_ : stderr_;
      if (sink.closed) {
        // Dropped, and paid for all the same: the command's end comes only after its output has gone somewhere.
        v2::AppendWindow(out_, kCall, sink.stream, static_cast<uint32_t>(frame.payload.size()));
        return {};
      }
      sink.pending.append(frame.payload);
      if (sink.pending.size() - sink.written > 2 * BGE_WINDOW_INITIAL) {
        return Fail(Code::kInvalid, "protocol: the gateway sent more than the window allows");
      }
      return {};
    }
    case BGE_WINDOW: {
      BEIGE_ASSIGN(const uint32_t credit, v2::DecodeWindow(frame.payload));
      if (frame.header.stream == 0) stdin_window_ = std::min<uint32_t>(stdin_window_ + std::min(credit, 1u << 20), 1u << 20);
      return {};
    }
    case BGE_EXIT: {
      BEIGE_ASSIGN(exit_, v2::DecodeExit(frame.payload));
      return {};
    }
    case BGE_REFUSED: return Fail(Code::kUnavailable, std::string(frame.payload));
    case BGE_PING: v2::AppendFrame(out_, frame.header.call, BGE_PONG, frame.payload); return {};
    default: return {};  // STARTED, and what a newer gateway may tell
  }
}

Result<> ExecSession::WriteSocket() {
  const ssize_t n = ::send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n > 0) out_.erase(0, static_cast<size_t>(n));
  // A closed peer is found out by reading: its last words may still be there.
  if (n < 0 && errno != EAGAIN && errno != EINTR) out_.clear();
  return {};
}

void ExecSession::ReadStdin() {
  char buffer[BGE_CHUNK];
  const ssize_t n = ::read(streams_.in, buffer, std::min<size_t>(sizeof buffer, stdin_window_));
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n > 0) {
    v2::AppendFrame(out_, kCall, BGE_STDIN, std::string_view(buffer, static_cast<size_t>(n)));
    stdin_window_ -= static_cast<uint32_t>(n);
    return;
  }
  v2::AppendFrame(out_, kCall, BGE_STDIN, "");  // end of file, or as good as it
  stdin_open_ = false;
}

void ExecSession::ReadSignals() {
  signalfd_siginfo info{};
  while (::read(streams_.signals, &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGWINCH) {
      if (request_.tty) v2::AppendFrame(out_, kCall, BGE_RESIZE, v2::EncodeSize(CurrentTerminalSize()));
      continue;
    }
    if (number == SIGINT) ++interrupts_;
    v2::AppendFrame(out_, kCall, BGE_SIGNAL, std::string(1, static_cast<char>(number)));
  }
}

void ExecSession::WriteSink(Sink& sink) {
  const size_t size = std::min(SafeWriteSize(sink.fd), sink.pending.size() - sink.written);
  const ssize_t n = ::write(sink.fd, sink.pending.data() + sink.written, size);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n < 0) {
    // The reader went away: the command is told as a pipe would tell it, and what it still writes is taken and dropped.
    v2::AppendFrame(out_, kCall, BGE_SIGNAL, std::string(1, static_cast<char>(SIGPIPE)));
    v2::AppendWindow(out_, kCall, sink.stream, sink.credit + static_cast<uint32_t>(sink.pending.size() - sink.written));
    sink.closed = true;
    sink.pending.clear();
    sink.written = 0;
    sink.credit = 0;
    broken_ = true;
    give_up_ = std::chrono::steady_clock::now() + kBrokenGrace;
    return;
  }
  sink.written += static_cast<size_t>(n);
  sink.credit += static_cast<uint32_t>(n);
  if (sink.written == sink.pending.size()) {
    sink.pending.clear();
    sink.written = 0;
  }
  if (sink.credit >= kReturnCredit || (sink.pending.empty() && sink.credit > 0)) {
    v2::AppendWindow(out_, kCall, sink.stream, sink.credit);
    sink.credit = 0;
  }
}

}  // namespace beige::cli
