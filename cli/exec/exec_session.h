#ifndef BEIGE_CLI_EXEC_EXEC_SESSION_H_
#define BEIGE_CLI_EXEC_EXEC_SESSION_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "api/agent_ref.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "protocol/v2_codec.h"

namespace beige::cli {

struct ExecRequest {
  AgentKey agent;
  std::vector<std::string> argv;
  std::vector<std::string> env;  // KEY=VALUE
  std::string cwd;               // "" = /workspace
  std::chrono::milliseconds timeout{0};  // 0 = none
  bool interactive = false;      // pass stdin on
  bool tty = false;
};

// Descriptors of the person's side; none is owned or made non-blocking (others may share them). `signals` is a signalfd.
struct ExecStreams {
  int in = 0;
  int out = 1;
  int err = 2;
  int signals = -1;
};

// One command over run/cli.sock, protocol v2: one thread, one poll loop. Memory is bounded by the windows of both directions, so a reader
// that stalls here stalls the command there.
class ExecSession {
 public:
  ExecSession(UniqueFd socket, ExecRequest request, ExecStreams streams);

  // Until the exit frame. Unavailable when the gateway refuses or goes away first, Invalid for bytes that are not the protocol,
  // Timeout when the deadline passed and the gateway said nothing.
  Result<v2::Exit> Run();

 private:
  // What came for stdout or stderr and is not written yet.
  struct Sink {
    int fd;
    uint8_t stream;
    std::string pending;
    size_t written = 0;   // of pending
    uint32_t credit = 0;  // written and not yet returned as window
    bool closed = false;  // its reader went away: bytes are dropped
  };
  Result<> Step();
  void PollTimeout(int& timeout) const;
  Result<> ReadSocket();
  Result<> TakeFrames();
  Result<> TakeFrame(const v2::FrameReader::Frame& frame);
  Result<> WriteSocket();
  void ReadStdin();
  void ReadSignals();
  void WriteSink(Sink& sink);
  bool Drained() const;

  UniqueFd socket_;
  ExecRequest request_;
  ExecStreams streams_;
  std::string out_;  // to the gateway
  std::string preamble_;
  bool agreed_ = false;
  v2::FrameReader reader_;
  Sink stdout_;
  Sink stderr_;
  uint32_t stdin_window_ = BGE_WINDOW_INITIAL;
  bool stdin_open_;
  int interrupts_ = 0;
  bool broken_ = false;  // the reader of stdout or stderr went away
  std::optional<v2::Exit> exit_;
  std::optional<SteadyTime> give_up_;
};

// 0-255 as docker exec gives it: the command's own, 128+n for signal n, 124, 125, 126 or 127.
int ExitStatusOf(const v2::Exit& exit);

std::string EncodeExecRequest(const ExecRequest& request, v2::TerminalSize size);

}  // namespace beige::cli

#endif
