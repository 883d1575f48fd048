#ifndef BEIGE_GATEWAY_CALLS_RUNNING_CALL_H_
#define BEIGE_GATEWAY_CALLS_RUNNING_CALL_H_

#include <string>
#include <string_view>

#include "base/clock.h"
#include "gateway/calls/calls.h"
#include "gateway/control/job_channel.h"
#include "gateway/tools/cell.h"

namespace beige {

// One allowed call from its begin record to its end record: waits for its cell, runs as a job, relays.
class RunningCall final : public JobSink, public CellWaiter {
 public:
  RunningCall(Calls::Impl& calls, Calls::Id id, CallRequest request, CallSink* sink, std::string audit_id, SteadyTime now);
  ~RunningCall() override;

  void RunTool(Cell* cell);
  void RunInSandbox(JobChannel* control);

  void Stdin(std::string_view bytes);
  void StdinEof();
  void Signal(int number);
  void Resize(v2::TerminalSize size);
  void Credit(uint8_t stream, uint32_t bytes);
  void Cancel();
  // Looked at once a second: what the runner itself should have ended by now, or a cell that does not come.
  void Sweep(SteadyTime now);
  void Stop(std::string_view why);  // the gateway goes

  const CallRequest& request() const { return request_; }

 private:
  void OnOutput(uint8_t stream, std::string_view bytes) override;
  void OnStdinCredit(uint32_t bytes) override;
  void OnExit(const v2::Exit& exit) override;
  void OnCell() override;

  void StartJob(JobChannel* channel, const std::string& fields);
  // Ends the call by our own word, whatever the job does; destroys this.
  void End(uint8_t how, int32_t code, std::string text);
  void Finish(uint8_t how, int32_t code, std::string text);
  std::string Named(std::string_view text) const;

  Calls::Impl& calls_;
  const Calls::Id id_;
  const CallRequest request_;
  CallSink* sink_;  // nullptr once cancelled
  const std::string audit_id_;
  const SteadyTime started_;
  Cell* cell_ = nullptr;  // while it is awaited
  JobChannel* channel_ = nullptr;
  uint32_t job_ = 0;
  std::string waiting_stdin_;
  bool waiting_eof_ = false;
  bool takes_stdin_ = false;
  bool cancelled_ = false;
  bool finished_ = false;
  std::chrono::milliseconds timeout_{0};
  SteadyTime give_up_at_ = SteadyTime::max();
  uint64_t stdin_bytes_ = 0;
  uint64_t output_bytes_[2] = {0, 0};
};

}  // namespace beige

#endif
