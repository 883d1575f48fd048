#ifndef BEIGE_OPERATOR_RECONCILE_IMAGES_H_
#define BEIGE_OPERATOR_RECONCILE_IMAGES_H_

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "api/agent.h"
#include "base/clock.h"
#include "runtime/sandbox.h"

namespace beige {

struct ImageState {
  enum class Kind { kUnknown, kReady, kBusy, kFailed };
  Kind kind = Kind::kUnknown;
  runtime::Image image;    // kReady
  std::string reason;      // kBusy: ImagePulling, ImageLoading; kFailed: ImagePullFailed, ImageMissing, EngineUnavailable
  std::string message;     // progress, or why not and what to do
  std::chrono::nanoseconds retry_in{0};  // kFailed: not tried again before
};

// Brings images into the engine: looks, loads the default image from its file, pulls. Work that takes long runs on the one image thread,
// once per image however many agents wait for it; those who asked are told when to ask again. Thread-safe.
class Images {
 public:
  struct Options {
    std::string default_image;            // is loaded from a file rather than pulled
    std::vector<std::string> tar_paths;   // where the file may lie; the first that exists
  };
  using Notify = std::function<void(const AgentKey&)>;
  Images(runtime::SandboxRuntime& runtime, const Clock& clock, Options options, Notify notify);
  ~Images();

  // Never waits for a load or a pull. kBusy: `waiter` is notified at progress (at most every 2 s) and at the end.
  ImageState Ensure(const std::string& reference, PullPolicy policy, const AgentKey& waiter);

  bool Busy();  // a load or a pull is going on; the destructor would wait for it

 private:
  struct Job {
    ImageState state;
    std::set<AgentKey> waiters;
    SteadyTime told{};
    int failures = 0;
    SteadyTime ended{};
    bool fresh = false;  // the last one succeeded at `ended`
  };
  void Run();
  void Work(const std::string& reference);
  void Say(const std::string& reference, const std::string& line);
  std::string FindTar() const;

  runtime::SandboxRuntime& runtime_;
  const Clock& clock_;
  const Options options_;
  const Notify notify_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, Job> jobs_;
  std::deque<std::string> queue_;
  bool stop_ = false;
  std::thread thread_;  // last: uses what stands above
};

}  // namespace beige

#endif
