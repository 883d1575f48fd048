#ifndef BEIGE_GATEWAY_LLM_RUNNING_H_
#define BEIGE_GATEWAY_LLM_RUNNING_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/llm/attempt.h"
#include "gateway/llm/llm.h"

namespace beige::llm {

// One request: its chain of models, the place that it has or waits for, and the attempt that is on its way. Events are held back until
// there is content, so nothing of an attempt that failed before is ever seen.
class Llm::Running {
 public:
  Running(Llm& llm, AgentKey agent, std::vector<Choice> choices, Request request, Sink sink);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void Pause();  // the reader is slow: no more events until Resume
  void Resume();

  // What was spent on this and will not come, or has not come yet, as an event: on attempts that failed before any content, and on the
  // answer that is on its way.
  Usage unreported() const;

 private:
  friend class Llm;
  void Next();      // the next model of the chain; may end it
  void Admitted();  // there is a place
  void Expired();   // there was none in time
  void OnEvent(const Event& event);
  void OnFailed(const Failure& failure);
  void OnUsage(Usage usage);
  Usage Priced(Usage usage) const;
  void EndAttempt(std::string_view outcome);  // counts it and gives the place back
  void Forward(const Event& event);           // may destroy this
  void Flush();                               // what was held back; may destroy this
  void Later(void (Running::*what)());        // on the next turn of the loop, unless this is gone

  Llm& llm_;
  const AgentKey agent_;
  Request request_;
  const std::shared_ptr<const Sink> sink_;
  std::shared_ptr<const GatewayConfig> config_;
  std::shared_ptr<const http::client::Trust> trust_;
  std::shared_ptr<http::client::CurlLoop> curl_;
  Chain chain_;
  std::optional<Choice> choice_;
  Places::Ticket ticket_ = 0;  // 0 = neither has a place nor waits
  std::unique_ptr<Attempt> attempt_;
  std::vector<Event> held_;
  bool told_ = false;  // the attempt has said what it used
  Usage kept_;         // told by it, and not given on as an event
  Usage lost_;         // of attempts before it
  bool content_ = false;
  bool counted_ = true;  // the attempt's outcome
  bool paused_ = false;
  SteadyTime asked_{};
  std::shared_ptr<Running*> self_;
};

}  // namespace beige::llm

#endif
