// A sandbox or a cell made by bubblewrap, with the real binary as its PID 1 and the test as its gateway.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "channel.h"

namespace beige::sandbox_test {

// Where the programs under test lie; set once by main.
struct Programs {
  std::string sandbox;   // beige-sandbox
  std::string attacker;  // tests/sandbox/attacker.c
};
Programs& ThePrograms();

struct CageOptions {
  bool runner = false;
  bool register_now = true;
  // Of the binary inside. As it is installed, nobody can read it.
  mode_t binary_mode = 0111;
  // 0 = none. Only felt by a uid other than root.
  int max_processes = 0;
};

struct JobSpec {
  std::vector<std::string> argv;
  uint32_t flags = BGE_FLAG_KILL_TREE;
  std::vector<std::string> env;
  std::string cwd;
  uint32_t deadline_ms = 0;
  bool tty = false;
  uint16_t columns = 80, rows = 24;
};
JobSpec Shell(const std::string& script, uint32_t flags = BGE_FLAG_KILL_TREE);

struct Outcome {
  bool ended = false;  // an EXIT came in time
  std::string out, err, text;
  int how = -1, code = -1;
  uint64_t input_credit = 0;
  uint32_t started_pid = 0;
};

class Cage {
 public:
  explicit Cage(const CageOptions& options = {});
  Cage(const Cage&) = delete;
  Cage& operator=(const Cage&) = delete;
  ~Cage();

  // The gateway's side of one connection on control.sock up to HELLO; its payload lies in `hello`.
  std::optional<Channel> AcceptControl(std::string* hello);
  // The same and REGISTERED; becomes `control()`.
  bool Register();
  Channel& control() { return *control_; }
  void Disconnect() { control_.reset(); }
  void StopListening() { control_listener_.reset(); }
  void ListenAgain();
  void StopGatewaySocket() { gateway_listener_.reset(); }
  Listener& gateway() { return *gateway_listener_; }
  const std::string& hello() const { return hello_; }

  // Sends JOB and returns its call id.
  uint32_t Start(const JobSpec& spec);
  // Reads frames until EXIT of `call`, returning credit for what comes. Frames of other calls are dropped.
  Outcome Finish(uint32_t call, int patience_ms = kPatienceMs);
  Outcome Run(const JobSpec& spec) { return Finish(Start(spec)); }
  Outcome RunShell(const std::string& script) { return Run(Shell(script)); }
  // Reads frames of `call` until its stdout holds `text`; what was read stays for Finish.
  bool WaitForOutput(uint32_t call, const std::string& text);
  // The same until there are `length` bytes.
  bool WaitForLength(uint32_t call, size_t length);
  // What has been read of `call` so far.
  Outcome& PartialOf(uint32_t call);
  // True when PING is answered.
  bool Alive(int patience_ms = kPatienceMs);

  // PID 1 as this test sees it.
  pid_t pid1() const { return pid1_; }
  // bubblewrap has ended (PID 1 has, too) within the patience.
  bool Ends(int patience_ms = kPatienceMs);
  // The directory that is /beige inside.
  std::string link() const { return home_ + "/link"; }

 private:
  void Launch(const CageOptions& options, int runner_fd);
  void Take(const Frame& frame, Outcome* outcome);

  std::string home_;
  std::string hello_;
  std::unique_ptr<Listener> control_listener_, gateway_listener_;
  std::unique_ptr<Channel> control_;
  pid_t bwrap_ = -1, pid1_ = -1;
  uint32_t next_call_ = 1;
  std::vector<std::pair<uint32_t, Outcome>> partial_;
};

}  // namespace beige::sandbox_test
