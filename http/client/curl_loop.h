#ifndef BEIGE_HTTP_CLIENT_CURL_LOOP_H_
#define BEIGE_HTTP_CLIENT_CURL_LOOP_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret.h"
#include "base/unique_fd.h"

namespace beige::http::client {

class Trust;

enum class Flow { kMore, kPause, kStop };

enum class Ended { kComplete, kStopped, kNoConnection, kTimeout, kBroken };

using HeaderList = std::vector<std::pair<std::string, std::string>>;  // names in lower case

struct Outcome {
  Ended ended = Ended::kComplete;
  std::string why{};     // the library's or the system's words, "" when complete
  bool connected = false;  // a connection stood, name and TLS included, before it ended
  int status = 0;        // 0 when no header came
  HeaderList headers{};  // of the answer; at most 32 KiB are kept

  std::string_view Header(std::string_view name) const;  // name in lower case; "" when absent
};

// One HTTP exchange. Callbacks run on the loop's thread and must not block. Redirects are never followed.
struct Transfer {
  std::string socket;  // path of a Unix socket; "" = the host of `url`
  std::string method = "GET";
  std::string url;
  std::string content_type;
  std::vector<std::pair<std::string, Secret>> headers;  // our copies are wiped; the library's own send buffer is not
  std::string body;    // of a POST
  UniqueFd upload;     // sent as the body instead of `body` when set
  int64_t upload_size = 0;
  // What https wants of a server's chain. One for all transfers of a loop: kept connections are not told apart by it.
  std::shared_ptr<const Trust> trust;
  bool environment_proxy = false;         // https only: https_proxy and no_proxy count
  std::chrono::milliseconds connect{0};   // until there is a connection, name and TLS included; 0 = the library's 300 s
  std::chrono::milliseconds deadline{0};  // whole exchange; 0 = none
  std::chrono::milliseconds idle{0};      // no byte either way for this long (whole seconds); 0 = none
  long read_buffer = 0;                   // bytes, 1 KiB at least; 0 = the library's 16 KiB
  std::function<void(const Outcome&)> on_headers;  // status and headers are there
  std::function<Flow(std::string_view)> on_data;   // kPause: the same bytes come again after Resume
  std::function<void(const Outcome&)> on_done;     // exactly once
};

// One thread that runs all exchanges and timers of one kind of peer (curl_multi; connections are kept and used again).
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

}  // namespace beige::http::client

#endif
