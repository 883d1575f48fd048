#ifndef BEIGE_TESTS_GATEWAY_SESSIONS_SESSIONS_FIXTURE_H_
#define BEIGE_TESTS_GATEWAY_SESSIONS_SESSIONS_FIXTURE_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "gateway/sessions/record.h"
#include "gateway/sessions/sessions.h"
#include "tests/gateway/core/core.h"
#include "tests/gateway/llm/upstream.h"

namespace beige::sessions {

// Stands where calls are decided and run: answers each from a script and keeps what came. Core thread.
class ScriptedCalls final : public CallService {
 public:
  struct Answer {
    std::string out{};
    int code = 0;
    bool hang = false;  // until it is cancelled
  };
  explicit ScriptedCalls(Loop& loop) : loop_(loop) {}

  Id Start(CallRequest request, CallSink* sink) override;
  void Stdin(Id, std::string_view) override {}
  void StdinEof(Id) override {}
  void Signal(Id, int) override {}
  void Resize(Id, v2::TerminalSize) override {}
  void Credit(Id, uint8_t, uint32_t) override {}
  void Cancel(Id id) override;
  void Finish(const std::string& asked, const Answer& answer);  // one that hangs
  size_t InFlight(std::string_view) const override { return open_.size(); }

  // By what the model asked: a command of exec, a path of the others. Anything else answers "ran".
  std::map<std::string, Answer> script;
  std::vector<CallRequest> started;
  std::vector<std::string> cancelled;

 private:
  Loop& loop_;
  Id last_ = 0;
  std::map<Id, std::pair<CallSink*, std::string>> open_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

struct Seen {
  std::string id, name, prompt;
  nlohmann::json data;
  bool ends = false;
};

// One who watches, on the core thread; what he saw can be read from the test's.
class Eye final : public Watcher {
 public:
  void OnEvent(const Event& event) override;
  void OnClosed(const Error& why) override;

  std::vector<Seen> All() const;
  std::vector<Seen> Of(const std::string& name) const;
  std::string Names() const;  // "turn model text done", repeats of text as one
  std::string Text() const;   // of all text events
  bool Ended(const std::string& prompt) const;
  std::optional<Error> Closed() const;

 private:
  mutable Guarded<std::vector<Seen>> seen_;
  mutable Guarded<std::optional<Error>> closed_;
};

class SessionsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { upstream_ = new llm::Upstream; }
  static void TearDownTestSuite() {
    delete upstream_;
    upstream_ = nullptr;
  }
  void SetUp() override;
  void TearDown() override;

  void Up();
  void Down();
  void Restart() { Down(), Up(); }  // as a gateway that was stopped well
  // The agent a1 with these models (behaviours of the script), in this order.
  void Grant(const std::vector<std::string>& models, std::vector<std::string> core_tools = {"read", "write", "patch", "exec"});
  static AgentRef Agent() { return testing::Core::RefOf("a1"); }

  Result<Accepted> Submit(Prompt prompt);
  Prompt Say(const std::string& text, const std::string& session = "") const;
  // Said, watched from its acceptance on, and waited for.
  Accepted Talk(const std::string& text, const std::string& session = "") { return Talk(Say(text, session)); }
  Accepted Talk(Prompt prompt);
  void Follow(const Accepted& accepted, Eye& eye);
  // Said and watched, not waited for.
  Accepted Begin(const std::string& text, Eye& eye, const std::string& session = "");
  // A turn in the middle of a call that lasts until calls_->Finish("wait", ...); the model is "obey".
  Accepted BeginCall(Eye& eye, const std::string& session = "");
  // A session's file as a crash leaves it, with the mark of one that has detached prompts.
  void Leave(const std::string& id, const std::vector<Record>& records, const std::string& torn = "");
  static Begun First(const std::string& id, const std::string& uid = Agent().uid) { return {id, "default", "a1", uid}; }
  std::string Answer() const { return eye_->Text(); }
  Eye& eye() { return *eye_; }
  Eye& NewEye() { return *eyes_.emplace_back(std::make_unique<Eye>()); }  // lives as long as it may be told something
  nlohmann::json Show(const std::string& session);
  std::string File(const std::string& session) const;
  // What the provider was last asked.
  nlohmann::json LastBody() const;
  template <typename T, typename F>
  Result<T> Get(F&& ask) {
    auto promise = std::make_shared<std::promise<Result<T>>>();
    auto future = promise->get_future();
    core_->On([&] { ask([promise](Result<T> result) { promise->set_value(std::move(result)); }); });
    return future.get();
  }
  bool AuditHas(const std::string& text) const;

  static llm::Upstream* upstream_;
  std::unique_ptr<testing::Core> core_;
  RealClock clock_;
  std::unique_ptr<llm::Llm> models_;
  std::unique_ptr<ScriptedCalls> calls_;
  std::unique_ptr<Sessions> sessions_;
  std::vector<std::unique_ptr<Eye>> eyes_;
  Eye* eye_ = nullptr;  // of the last Talk
};

}  // namespace beige::sessions

#endif
