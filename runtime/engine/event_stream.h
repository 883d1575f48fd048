#ifndef BEIGE_RUNTIME_ENGINE_EVENT_STREAM_H_
#define BEIGE_RUNTIME_ENGINE_EVENT_STREAM_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "runtime/engine/http.h"
#include "runtime/engine/progress.h"
#include "runtime/sandbox.h"

namespace beige::runtime::engine {

// The stream of GET /events for one home's containers, and for the networks that any container is connected to, opened again by itself with backoff (0.1 s doubling to 5 s) after /_ping has
// answered. Lives on the client's loop; the callbacks run there and must not call the engine. No callback runs once the destructor has
// returned. Must go before the client.
class EventStream : public SandboxRuntime::Subscription {
 public:
  EventStream(EngineHttp& http, const std::string& home, std::function<void(const Event&)> on_event, std::function<void(bool)> on_state);
  ~EventStream() override;

 private:
  void Ping();
  void Open(const ServerInfo& server);
  void Retry();
  void SetUp(bool up);
  bool Line(std::string_view line);

  EngineHttp& http_;
  const std::string path_;
  const std::string home_;
  std::function<void(const Event&)> on_event_;
  std::function<void(bool)> on_state_;
  // All below: loop thread only.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // told apart by what was posted for a stream that is gone
  CurlLoop::Id transfer_ = 0;
  LineSplitter splitter_;
  std::chrono::milliseconds backoff_;
  enum class Said { kNothing, kUp, kDown } said_ = Said::kNothing;
};

}  // namespace beige::runtime::engine

#endif
