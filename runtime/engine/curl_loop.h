#ifndef BEIGE_RUNTIME_ENGINE_CURL_LOOP_H_
#define BEIGE_RUNTIME_ENGINE_CURL_LOOP_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace beige::runtime::engine {

enum class Flow { kMore, kPause, kStop };

enum class Ended { kComplete, kStopped, kNoConnection, kTimeout, kBroken };

struct Outcome {
  Ended ended = Ended::kComplete;
  std::string why;  // the library's or the system's words, "" when complete
  int status = 0;   // 0 when no header came
  std::string api_version;  // header Api-Version
  std::string server;       // header Server
  bool libpod = false;      // header Libpod-Api-Version present
};

// One HTTP exchange over a Unix socket. Callbacks run on the loop's thread and must not block.
struct Transfer {
  std::string socket;
  std::string method = "GET";
  std::string target;  // path and query
  std::string content_type;
  std::string body;
  UniqueFd upload;     // sent as the body instead of `body` when set
  int64_t upload_size = 0;
  std::chrono::milliseconds deadline{0};  // whole exchange; 0 = none
  std::chrono::milliseconds idle{0};      // no byte either way for this long (whole seconds); 0 = none
  std::function<void(int status)> on_headers;
  std::function<Flow(std::string_view)> on_data;  // kPause: the same bytes come again after Resume
  std::function<void(const Outcome&)> on_done;    // exactly once
};

// One thread that runs all exchanges and timers of one engine client (curl_multi; connections are kept and used again).
// Start, Resume, Stop, After, Post, Wait are thread-safe.
class CurlLoop {
 public:
  using Id = uint64_t;

  CurlLoop();
  ~CurlLoop();  // ends what runs with kStopped, then joins
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  Id Start(Transfer transfer);
  void Resume(Id id);
  void Stop(Id id);  // on_done comes with kStopped; unknown ids are ignored
  void After(std::chrono::milliseconds delay, std::function<void()> fn);
  void Post(std::function<void()> fn);
  // Runs `fn` on the loop's thread and returns when it is done; inline when called there.
  void Wait(const std::function<void()>& fn);
  bool OnLoopThread() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace beige::runtime::engine

#endif
