// The HTTP side of a call against a CallService that the test drives by hand: what is fed, credited, gathered and cancelled.
#include "gateway/http/exec_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace beige {
namespace {
using std::chrono::milliseconds;

struct DrivenCalls final : CallService {
  Id Start(CallRequest request, CallSink* s) override {
    last = std::move(request);
    sink = s;
    return 7;
  }
  void Stdin(Id, std::string_view bytes) override { input += bytes; }
  void StdinEof(Id) override { eof = true; }
  void Signal(Id, int) override {}
  void Resize(Id, v2::TerminalSize) override {}
  void Credit(Id, uint8_t stream, uint32_t bytes) override { credit[stream] += bytes; }
  void Cancel(Id id) override { cancelled = id; }
  size_t InFlight(std::string_view) const override { return 0; }
  CallRequest last;
  CallSink* sink = nullptr;
  std::string input;
  bool eof = false;
  std::map<uint8_t, uint64_t> credit;
  Id cancelled = 0;
};

struct RecordingResponder final : http::Responder {
  void Reply(http::Response r) override {
    std::lock_guard lock(mutex);
    response = std::move(r);
    arrived.notify_all();
  }
  void Begin(http::Response, std::string) override {}
  bool Write(std::string) override { return false; }
  void End(std::string) override {}
  void OnGone(std::function<void()> fn) override { gone = std::move(fn); }
  std::optional<http::Response> Wait() {
    std::unique_lock lock(mutex);
    arrived.wait_for(lock, std::chrono::seconds(10), [this] { return response.has_value(); });
    return response;
  }
  std::mutex mutex;
  std::condition_variable arrived;
  std::optional<http::Response> response;
  std::function<void()> gone;
};

ExecBody Body(std::string input = "") {
  ExecBody body;
  body.call.args = {"cat"};
  body.call.stdin_open = !input.empty();
  body.stdin_bytes = std::move(input);
  return body;
}
}  // namespace

class ExecCallsTest : public ::testing::Test {
 protected:
  Loop loop_;
  DrivenCalls calls_;
  std::shared_ptr<RecordingResponder> responder_ = std::make_shared<RecordingResponder>();
  std::unique_ptr<ExecCalls> execs_ = std::make_unique<ExecCalls>(loop_, calls_);
};

TEST_F(ExecCallsTest, StdinIsFedOnlyAsFarAsTheWindowAllows) {
  execs_->Start(Body(std::string(BGE_WINDOW_INITIAL + 1000, 'x')), responder_);
  EXPECT_EQ(calls_.input.size(), BGE_WINDOW_INITIAL);
  EXPECT_FALSE(calls_.eof);
  calls_.sink->OnStdinCredit(999);
  EXPECT_EQ(calls_.input.size(), BGE_WINDOW_INITIAL + 999u);
  calls_.sink->OnStdinCredit(5000);
  EXPECT_EQ(calls_.input.size(), BGE_WINDOW_INITIAL + 1000u);
  EXPECT_TRUE(calls_.eof);
}

TEST_F(ExecCallsTest, OutputBeyondTheCapIsTakenAndSaidToBeCut) {
  execs_->Start(Body(), responder_);
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 9; ++i) calls_.sink->OnOutput(1, piece);
  calls_.sink->OnOutput(2, "e");
  EXPECT_EQ(calls_.credit[1], 9u << 20);  // the command is never blocked
  EXPECT_EQ(calls_.credit[2], 1u);
  calls_.sink->OnExit({BGE_HOW_EXITED, 0, "", ""});
  const auto response = responder_->Wait();
  ASSERT_TRUE(response);
  const auto json = nlohmann::json::parse(response->body);
  EXPECT_EQ(json["stdout"].get_ref<const std::string&>().size(), ExecCalls::kMaxStream);
  EXPECT_EQ(json["stderr"], "e");
  EXPECT_EQ(json["truncated"], true);
}

TEST_F(ExecCallsTest, AClientThatLeavesCancelsItsCommand) {
  execs_->Start(Body(), responder_);
  ASSERT_TRUE(responder_->gone);
  responder_->gone();
  while (loop_.RunOnce(milliseconds(10))) {
  }
  EXPECT_EQ(calls_.cancelled, 7u);
  EXPECT_EQ(execs_->running(), 0u);
}

TEST_F(ExecCallsTest, AClientThatLeavesAfterTheEndChangesNothing) {
  execs_->Start(Body(), responder_);
  calls_.sink->OnExit({BGE_HOW_EXITED, 0, "", ""});
  responder_->gone();
  while (loop_.RunOnce(milliseconds(10))) {
  }
  EXPECT_EQ(calls_.cancelled, 0u);
  EXPECT_EQ(responder_->Wait()->status, 200);
}

TEST_F(ExecCallsTest, StoppingCancelsAndAnswersWhatRuns) {
  execs_->Start(Body(), responder_);
  execs_.reset();
  EXPECT_EQ(calls_.cancelled, 7u);
  EXPECT_EQ(responder_->Wait()->status, 503);
  responder_->gone();  // late: nobody is there any more
  while (loop_.RunOnce(milliseconds(10))) {
  }
}

}  // namespace beige
