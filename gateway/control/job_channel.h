#ifndef BEIGE_GATEWAY_CONTROL_JOB_CHANNEL_H_
#define BEIGE_GATEWAY_CONTROL_JOB_CHANNEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/loop.h"
#include "base/socket_stream.h"
#include "protocol/v2_codec.h"

namespace beige {

// Who waits for a job. Nothing comes after OnExit, nor after JobChannel::Abandon.
class JobSink {
 public:
  virtual ~JobSink() = default;
  virtual void OnOutput(uint8_t stream, std::string_view bytes) = 0;  // 1 stdout, 2 stderr
  virtual void OnStdinCredit(uint32_t bytes) = 0;
  virtual void OnExit(const v2::Exit& exit) = 0;
};

// Appends the fields of a JOB frame, in any order but that of ARG.
namespace job {
void Arg(std::string& fields, std::string_view arg);
void Env(std::string& fields, std::string_view name, std::string_view value);
void Env(std::string& fields, std::string_view assignment);
void Cwd(std::string& fields, std::string_view directory);
void Flags(std::string& fields, uint32_t flags);
void DeadlineMs(std::string& fields, uint32_t ms);
void Tty(std::string& fields, v2::TerminalSize size);
}  // namespace job

class JobChannelOwner {
 public:
  struct Hello {
    std::string key;
    std::string instance;  // claims
    std::string version;
  };
  virtual ~JobChannelOwner() = default;
  virtual void OnHello(const Hello& hello) = 0;          // answer by Accept or Refuse
  virtual void OnProbed(std::string_view nonce) = 0;     // "" = the round trip failed
  virtual void OnDown(std::string_view why) = 0;         // once, after every job got its exit; may destroy the channel
};

// The gateway's end of a stream to a PID 1: of a sandbox, or a tool cell's runner. Many jobs share it, told apart by number.
//
// The peer of a sandbox is agent code for all we know, so nothing it says is believed: output beyond the credit that was given ends that
// job as lost, a broken frame ends the channel, credit beyond the window is cut. When the channel ends, each job ends with
// BGE_HOW_LOST, code 125. Core thread only.
class JobChannel final : public SocketStreamOwner, public TurnTaker {
 public:
  // `party`: whose share its reads and frames are taken from, if any; outlives it.
  JobChannel(Loop& loop, WriteBatch& batch, UniqueFd fd, JobChannelOwner* owner, Party* party = nullptr);
  ~JobChannel() override;  // as Close("closed"), without OnDown

  void Accept();                       // REGISTERED: jobs may come now
  void Refuse(std::string_view why);   // REFUSED, then Close
  void Close(std::string_view why);
  bool up() const { return state_ == State::kUp; }

  // The job's number, never 0; or 0 when the channel is not up. `fields` as made by job::*.
  uint32_t Start(std::string_view fields, JobSink* sink);
  bool Stdin(uint32_t job, std::string_view bytes);  // false: more than the window; nothing was sent
  void StdinEof(uint32_t job);
  void Signal(uint32_t job, int number);
  void Resize(uint32_t job, v2::TerminalSize size);
  void Credit(uint32_t job, uint8_t stream, uint32_t bytes);
  // SIGKILL for its whole tree; `sink` replaces the old one and hears only the exit.
  void Abandon(uint32_t job, JobSink* sink);

  void KillAll();
  void Ping();
  void Probe(std::string_view nonce);
  size_t jobs() const { return jobs_.size(); }
  // Grows with each frame that arrives, for who watches over silence.
  uint64_t frames() const { return frames_; }

 private:
  enum class State { kPreamble, kHello, kUp, kDown };
  struct Job {
    JobSink* sink = nullptr;
    uint32_t output_credit[2] = {BGE_WINDOW_INITIAL, BGE_WINDOW_INITIAL};
    uint32_t stdin_credit = BGE_WINDOW_INITIAL;
    bool abandoned = false;
  };

  void OnBytes(std::string_view bytes) override;
  void OnEof() override { End("the other end closed"); }
  void OnClosed() override { End("the connection broke"); }
  void OnTurn() override;
  void TakeFrames(bool in_turn);
  void End(std::string_view why);  // after what has come already
  bool OnPreamble();
  void OnFrame(const v2::FrameReader::Frame& frame);
  void OnHelloFrame(std::string_view payload);
  void OnOutput(uint32_t number, Job& job, uint8_t stream, std::string_view bytes);
  void OnExit(uint32_t number, std::string_view payload);
  void Send(uint32_t job, uint8_t kind, std::string_view payload);
  void EndJobs(std::string_view why);

  WriteBatch& batch_;
  Party* const party_;
  SocketStream stream_;
  JobChannelOwner* owner_;
  State state_ = State::kPreamble;
  std::string head_;
  v2::FrameReader reader_;
  std::unordered_map<uint32_t, Job> jobs_;
  uint32_t next_ = 1;
  uint64_t frames_ = 0;
  bool later_ = false;  // frames wait for their turn
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace beige

#endif
