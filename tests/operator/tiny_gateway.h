#ifndef BEIGE_TESTS_OPERATOR_TINY_GATEWAY_H_
#define BEIGE_TESTS_OPERATOR_TINY_GATEWAY_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "api/admin.h"
#include "base/unique_fd.h"

namespace beige::testing {

// The gateway's end of the admin protocol over a real socket: answers every grant as in force, and says of sandboxes what a test tells it
// to. One thread; the methods are for the test's.
class TinyGateway {
 public:
  explicit TinyGateway(std::string socket_path);
  ~TinyGateway();

  // Runs on the gateway's thread before a grant is answered: to make what the real one makes.
  std::function<void(const admin::Grant&)> on_grant = [](const admin::Grant&) {};

  void Listen();
  void Hang(const std::string& kind);  // leave these unanswered: "sync", "put", "remove", "probe"
  void Reject(const std::string& uid, const std::string& message);  // its Puts, from now on
  void UnknownTool(const std::string& tool);
  void SetVersion(int min, int max);
  void Close();      // listener and connection
  void DropPeer();   // the connection only

  void Say(const admin::ToOperator& message);
  void SayRaw(const std::string& line);

  // What the operator sent, as short texts: "sync one two", "put one 2", "remove UID", "announce UID INSTANCE", "probe UID".
  std::vector<std::string> Log() const;
  // Waits until `predicate` of the log holds; false after 10 s.
  bool Await(const std::function<bool(const std::vector<std::string>&)>& predicate);
  bool AwaitLine(const std::string& line);

 private:
  void Run();
  void Serve(std::string& buffer);
  void Handle(const admin::ToGateway& message);
  void Answer(const admin::Grant& grant, const std::string& kind);
  void Note(const std::string& line);
  void Wake();

  const std::string path_;
  UniqueFd wake_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  UniqueFd listener_, peer_;
  std::vector<std::string> log_;
  std::set<std::string> hang_;
  std::map<std::string, std::string> reject_;
  std::set<std::string> unknown_tools_;
  int min_ = admin::kVersion, max_ = admin::kVersion;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace beige::testing

#endif
