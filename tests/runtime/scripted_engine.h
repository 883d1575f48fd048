#ifndef BEIGE_TESTS_RUNTIME_SCRIPTED_ENGINE_H_
#define BEIGE_TESTS_RUNTIME_SCRIPTED_ENGINE_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "tests/support/temp_dir.h"

namespace beige::runtime {

struct SeenRequest {
  std::string line;    // "GET /v1.41/containers/json HTTP/1.1"
  std::string head;    // all of the head
  std::string body;
};

// A bad engine: speaks real HTTP over a real Unix socket, but says what the test wants. One thread per connection, joined at the end.
class ScriptedEngine {
 public:
  // The bytes to answer a request with; "" closes the connection without an answer, kSilence leaves it open.
  using Script = std::function<std::string(const SeenRequest&)>;
  static constexpr char kSilence[] = "(silence)";

  explicit ScriptedEngine(Script script);
  ~ScriptedEngine();

  std::string socket() const { return dir_ / "engine.sock"; }
  std::vector<SeenRequest> Requests();
  int Connections() const { return connections_; }
  void DropConnections();  // hangs up on everybody
  bool WaitForRequests(size_t count);

  static std::string Answer(int status, const std::string& body, const std::string& headers = "");
  static std::string Pong(const std::string& api_version) { return Answer(200, "OK", "Api-Version: " + api_version + "\r\nServer: Docker/1 (linux)\r\n"); }

 private:
  void Accept();
  void Serve(int fd);
  bool ReadRequest(int fd, std::string& buffered, SeenRequest& request);

  TempDir dir_;
  Script script_;
  UniqueFd listener_;
  std::atomic<int> connections_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;  // guards what stands below
  std::condition_variable changed_;
  std::vector<SeenRequest> requests_;
  std::list<UniqueFd> open_;
  std::list<std::thread> serving_;
  std::thread accepting_;
};

}  // namespace beige::runtime

#endif
