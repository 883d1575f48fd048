#include "gateway/calls/running_call.h"

#include <csignal>

#include "gateway/calls/calls_impl.h"
#include "gateway/tools/tool_router.h"

namespace beige {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kCellWithin{5000};
// After the deadline the runner has 2 s between SIGTERM and SIGKILL; beyond that and some air the gateway ends the call by itself.
constexpr milliseconds kBackstop{7000};
constexpr milliseconds kKilledWithin{10000};

std::string_view OutcomeOf(uint8_t how, int32_t code) {
  switch (how) {
    case BGE_HOW_EXITED: return code == 0 ? "ok" : "error";
    case BGE_HOW_TIMEOUT: return "timeout";
    case BGE_HOW_LOST: return "lost";
    default: return "error";
  }
}
}  // namespace

RunningCall::RunningCall(Calls::Impl& calls, Calls::Id id, CallRequest request, CallSink* sink, std::string audit_id, SteadyTime now)
    : calls_(calls), id_(id), request_(std::move(request)), sink_(sink), audit_id_(std::move(audit_id)), started_(now) {}

RunningCall::~RunningCall() {
  if (cell_ != nullptr) cell_->Forget(this);
  if (job_ != 0 && channel_ != nullptr) channel_->Abandon(job_, nullptr);
}

std::string RunningCall::Named(std::string_view text) const { return request_.tool + ": " + std::string(text); }

void RunningCall::RunTool(Cell* cell) {
  if (cell == nullptr) {
    End(BGE_HOW_LOST, 125, "lost: the tool was taken away");
    return;
  }
  takes_stdin_ = request_.stdin_open && cell->manifest()->stdin_open;
  timeout_ = request_.timeout.count() > 0 ? std::min(request_.timeout, cell->manifest()->timeout) : cell->manifest()->timeout;
  if (JobChannel* channel = cell->channel()) {
    StartJob(channel, cell->JobFields(request_.args, audit_id_, request_.session_claim, request_.cwd_claim, request_.timeout, request_.stdin_open));
    return;
  }
  if (cell->state() == Cell::State::kFailed) {
    End(BGE_HOW_FAILED, 126, "unavailable: " + cell->reason());
    return;
  }
  cell_ = cell;
  cell->Await(this);
  give_up_at_ = calls_.clock.Now() + kCellWithin;
}

// The cell may be about to be destroyed or remade: look it up again by name.
void RunningCall::OnCell() {
  cell_ = nullptr;
  give_up_at_ = SteadyTime::max();
  const auto standing = calls_.roster.StandingOf(request_.agent.uid);
  RunTool(standing ? standing->tools->Find(request_.tool) : nullptr);
}

void RunningCall::RunInSandbox(JobChannel* control) {
  if (control == nullptr) {
    End(BGE_HOW_LOST, 125, "the sandbox is not connected; see: beige describe agent " + request_.agent.name);
    return;
  }
  takes_stdin_ = request_.stdin_open;
  timeout_ = request_.timeout;
  std::string fields;
  for (const auto& arg : request_.kind == CallKind::kCoreTool ? request_.argv : request_.args) job::Arg(fields, arg);
  for (const auto& variable : request_.env) job::Env(fields, variable);
  if (!request_.session_claim.empty()) job::Env(fields, "BEIGE_SESSION_KEY", request_.session_claim);
  if (!request_.channel_claim.empty()) job::Env(fields, "BEIGE_CHANNEL", request_.channel_claim);
  if (!request_.cwd_claim.empty()) job::Cwd(fields, request_.cwd_claim);
  job::Flags(fields, (request_.stdin_open ? BGE_FLAG_STDIN : 0u) | (request_.detached ? BGE_FLAG_DETACHED : 0u));
  if (timeout_.count() > 0) job::DeadlineMs(fields, static_cast<uint32_t>(std::min<int64_t>(timeout_.count(), UINT32_MAX)));
  if (request_.terminal) job::Tty(fields, *request_.terminal);
  if (fields.size() > BGE_MAX_REQUEST) {
    End(BGE_HOW_FAILED, 126, "arguments and environment are longer than 1 MiB; pass the data on stdin");
    return;
  }
  StartJob(control, fields);
}

void RunningCall::StartJob(JobChannel* channel, const std::string& fields) {
  job_ = channel->Start(fields, this);
  if (job_ == 0) {
    End(BGE_HOW_LOST, 125, "lost: it could not be started; try again");
    return;
  }
  channel_ = channel;
  if (timeout_.count() > 0) give_up_at_ = calls_.clock.Now() + timeout_ + kBackstop;
  if (!waiting_stdin_.empty()) channel_->Stdin(job_, std::exchange(waiting_stdin_, {}));
  if (waiting_eof_) channel_->StdinEof(job_);
}

void RunningCall::Stdin(std::string_view bytes) {
  if (!takes_stdin_ || cancelled_) return;  // as with a program that does not read: no credit comes back
  stdin_bytes_ += bytes.size();
  bool fits = true;
  if (job_ != 0) {
    fits = channel_->Stdin(job_, bytes);
  } else {
    fits = waiting_stdin_.size() + bytes.size() <= BGE_WINDOW_INITIAL;
    if (fits) waiting_stdin_.append(bytes);
  }
  if (!fits) End(BGE_HOW_FAILED, 125, "protocol error: more stdin than the window allows");
}

void RunningCall::StdinEof() {
  if (!takes_stdin_ || cancelled_) return;
  if (job_ != 0) {
    channel_->StdinEof(job_);
  } else {
    waiting_eof_ = true;
  }
}

void RunningCall::Signal(int number) {
  if (job_ != 0) {
    channel_->Signal(job_, number);
  } else if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT || number == SIGKILL) {
    // Nothing runs yet, so what asks a program to end ends the waiting.
    End(BGE_HOW_SIGNALED, number, "");
  }
}

void RunningCall::Resize(v2::TerminalSize size) {
  if (job_ != 0) channel_->Resize(job_, size);
}

void RunningCall::Credit(uint8_t stream, uint32_t bytes) {
  if (job_ != 0) channel_->Credit(job_, stream, bytes);
}

void RunningCall::Cancel() {
  sink_ = nullptr;
  if (request_.detached && job_ != 0) return;
  cancelled_ = true;
  if (job_ == 0) {
    End(BGE_HOW_SIGNALED, 9, "");
    return;
  }
  // Counts as in flight until the tree is gone, so that leaving early is no way around the limits.
  channel_->Abandon(job_, this);
  give_up_at_ = calls_.clock.Now() + kKilledWithin;
}

void RunningCall::Sweep(SteadyTime now) {
  if (now < give_up_at_) return;
  if (cancelled_) {
    End(BGE_HOW_LOST, 125, "cancelled, but its end was not seen");
  } else if (job_ == 0) {
    End(BGE_HOW_FAILED, 126, "unavailable: its cell did not come up in time; try again");
  } else {
    End(BGE_HOW_TIMEOUT, 124, "");
  }
}

void RunningCall::Stop(std::string_view why) { End(BGE_HOW_LOST, 125, "lost: " + std::string(why) + "; try again"); }

void RunningCall::OnOutput(uint8_t stream, std::string_view bytes) {
  output_bytes_[stream - 1] += bytes.size();
  if (sink_ != nullptr) {
    sink_->OnOutput(stream, bytes);
  } else if (channel_ != nullptr) {
    channel_->Credit(job_, stream, static_cast<uint32_t>(bytes.size()));  // detached, nobody listens
  }
}

void RunningCall::OnStdinCredit(uint32_t bytes) {
  if (sink_ != nullptr) sink_->OnStdinCredit(bytes);
}

void RunningCall::OnExit(const v2::Exit& exit) {
  job_ = 0;
  std::string text = exit.text;
  if (exit.how == BGE_HOW_LOST) {
    text = (request_.kind == CallKind::kTool ? "lost: its cell ended: " : "lost: the sandbox ended: ") + text + "; try again";
  } else if (exit.how == BGE_HOW_FAILED && exit.code != 125) {
    text = "can't be started: " + text;
  }
  Finish(exit.how, exit.code, std::move(text));
}

void RunningCall::End(uint8_t how, int32_t code, std::string text) {
  if (job_ != 0) channel_->Abandon(std::exchange(job_, 0), nullptr);
  Finish(how, code, std::move(text));
}

void RunningCall::Finish(uint8_t how, int32_t code, std::string text) {
  if (std::exchange(finished_, true)) return;
  const auto it = calls_.running.find(id_);
  const auto self = std::move(it->second);  // until the end of this function
  calls_.running.erase(it);
  const auto counts = calls_.in_flight.find(std::string_view(request_.agent.uid));
  if (counts != calls_.in_flight.end()) {
    --counts->second.of[static_cast<size_t>(request_.kind)];
    if (counts->second.All() == 0) calls_.in_flight.erase(counts);
  }
  if (how == BGE_HOW_TIMEOUT) {
    code = 124;
    text = "timed out after " + FormatDuration(timeout_);
  }
  CallResult result{how, code, how == BGE_HOW_EXITED || how == BGE_HOW_SIGNALED ? "" : Named(text), audit_id_};
  const std::string_view outcome = cancelled_ ? "cancelled" : OutcomeOf(how, code);
  const auto duration = calls_.clock.Now() - started_;
  calls_.audit.End(audit_id_, {&request_, outcome, std::chrono::duration_cast<std::chrono::microseconds>(duration).count(),
                               result.ExitStatus(), how == BGE_HOW_SIGNALED ? code : 0, stdin_bytes_, output_bytes_[0], output_bytes_[1],
                               text});
  if (request_.kind == CallKind::kExec) {
    calls_.metrics.CountExec(request_.agent.key(), outcome);
  } else {
    calls_.metrics.CountToolCall(request_.agent.key(), request_.tool, SurfaceName(request_.surface), "allow", outcome);
    calls_.metrics.ObserveToolDuration(request_.tool, std::chrono::duration<double>(duration).count());
  }
  if (sink_ != nullptr) sink_->OnExit(result);
}

}  // namespace beige
