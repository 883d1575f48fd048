#ifndef BEIGE_TESTS_GATEWAY_LLM_LLM_FIXTURE_H_
#define BEIGE_TESTS_GATEWAY_LLM_LLM_FIXTURE_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gateway/llm/llm.h"
#include "gateway/llm/running.h"
#include "gateway/metrics/metrics.h"
#include "tests/gateway/llm/upstream.h"
#include "tests/support/temp_dir.h"

namespace beige::llm {

inline const AgentKey kAgent{"default", "a1"};
inline const std::string kKey = "sk-canary-0123456789";

inline Request Prompt() {
  Request request;
  request.messages = {{Role::kUser, {Text{"Hi"}}}};
  return request;
}

// One request and what has come of it.
struct Asked {
  std::vector<Event> events;
  bool ended = false;
  std::unique_ptr<Llm::Running> running;
  std::function<void()> at_text;  // at the first one, from within the receiver

  std::vector<std::string> Described() const;
  std::string Text() const;
  template <typename T>
  std::vector<T> Of() const {
    std::vector<T> out;
    for (const Event& event : events) {
      if (const T* found = std::get_if<T>(&event)) out.push_back(*found);
    }
    return out;
  }
  Failure Error() const;  // of the end; kind kBusy and "no failure" when it ended well
};

// Llm as the gateway has it, on a loop that the test steps, against the scripted provider. The providers anthropic, chat, responses and
// google are its four dialects; a model is a behaviour of the script, and is configured when it is asked for.
class LlmTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { upstream_ = new Upstream; }
  static void TearDownTestSuite() {
    delete upstream_;
    upstream_ = nullptr;
  }
  void SetUp() override;
  void TearDown() override;

  std::string BaseUrl(LlmApi api, int port, const std::string& scheme = "http") const;
  void Configure();  // what stands in config_
  std::unique_ptr<Asked> Ask(const std::vector<std::string>& models, const std::string& agent = "a1", Request request = Prompt());
  void Finish(Asked& asked);
  std::unique_ptr<Asked> Answer(const std::vector<std::string>& models);  // asked, and read to its end
  bool StepUntil(const std::function<bool()>& done, std::chrono::milliseconds limit = std::chrono::seconds(20));
  // Of the metrics page; -1 when absent.
  double Metric(const std::string& series) const;

  static Upstream* upstream_;
  TempDir dir_;
  Loop loop_;
  RealClock clock_;
  GatewayMetrics metrics_;
  GatewayConfig config_;
  std::unique_ptr<Llm> llm_;
};

}  // namespace beige::llm

#endif
