#ifndef BEIGE_GATEWAY_HTTP_EXEC_CALLS_H_
#define BEIGE_GATEWAY_HTTP_EXEC_CALLS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/loop.h"
#include "gateway/calls/call.h"
#include "gateway/http/exec_body.h"
#include "http/http_server.h"

namespace beige {

// Commands that came over HTTP and have not ended. Output is gathered up to kMaxStream bytes a stream; beyond it the command's output
// is still taken, and thrown away. Core thread only, with one thread of its own that encodes large answers, so that megabytes of JSON
// don't hold up everybody's calls.
class ExecCalls {
 public:
  static constexpr size_t kMaxStream = 8u << 20;

  ExecCalls(Loop& loop, CallService& calls);
  ~ExecCalls();  // cancels what runs; those requests get 503

  void Start(ExecBody body, std::shared_ptr<http::Responder> responder);
  size_t running() const { return running_.size(); }

 private:
  class Running;
  void Over(uint64_t number);
  void Gone(uint64_t number);
  void Answer(std::function<void()> encode_and_reply, size_t bytes);
  void EncodeLoop();

  Loop& loop_;
  CallService& calls_;
  uint64_t last_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<Running>> running_;
  std::deque<std::unique_ptr<Running>> over_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::thread encoder_;
};

}  // namespace beige

#endif
