#ifndef BEIGE_RUNTIME_FAKE_FAKE_RUNTIME_H_
#define BEIGE_RUNTIME_FAKE_FAKE_RUNTIME_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine/wire.h"
#include "runtime/fake/fake_events.h"
#include "runtime/sandbox.h"

namespace beige::runtime::fake {

enum class Operation {
  kPing, kList, kObserve, kFindByName, kCreate, kStart, kStop, kUnpause, kRename, kRemove, kPrune, kVerify,
  kFindImage, kLoadImage, kPullImage, kBuildImage, kReadStats, kLogs
};

struct FakeOptions {
  bool check_mount_sources = true;  // a mount source must exist on this machine, as it must for an engine
};

// An engine in memory: same answers and errors as the real ones (it passes their suite), nothing runs. For unit tests of what drives a
// runtime; the hooks do what people and kernels do behind its back. Thread-safe.
class FakeRuntime : public SandboxRuntime {
 public:
  explicit FakeRuntime(FakeOptions options = {});

  // Images: what is there, and what a pull, load (by path of the tar) or build (by tag) would bring.
  void AddImage(const std::string& reference, engine::ImageInspect image);
  void AddImage(const std::string& reference);  // id made from the reference
  void RemoveImage(const std::string& reference);
  void OfferImage(const std::string& reference_or_path, const std::string& brings);

  // Behind the back. Unknown ids are ignored.
  void Kill(const std::string& id, int exit_code = 137);
  void OomKill(const std::string& id);
  void Pause(const std::string& id);
  void RemoveByHand(const std::string& id);  // its bridge stays
  void RenameByHand(const std::string& id, const std::string& name);
  void Edit(const std::string& id, const std::function<void(engine::ContainerInspect&)>& change);  // Verify then tells
  std::string AddForeign(const std::string& name, std::map<std::string, std::string> labels = {});  // running; id

  // The next `times` calls of this kind fail so, instead of what was said before; 0 = none.
  void FailNext(Operation operation, Error error, int times = 1);
  void SetAvailable(bool available);  // false: every call fails Unavailable and the event stream is down
  // Runs after each successful Start, without a lock: to exit at once, for example.
  void OnStart(std::function<void(const std::string& id)> hook);

  int Calls(Operation operation) const;  // so far, failed ones included
  int WritingCalls() const;              // create, start, stop, unpause, rename, remove
  std::vector<std::string> Bridges() const;

  Result<EngineInfo> Ping() override;
  Result<std::vector<Observed>> List(const std::string& home) override;
  Result<std::optional<Observed>> Observe(const std::string& id) override;
  Result<std::optional<Observed>> FindByName(const std::string& name) override;
  Result<std::string> Create(const SandboxSpec& spec) override;
  Result<> Start(const std::string& id) override;
  Result<> Stop(const std::string& id, int grace_seconds) override;
  Result<> Unpause(const std::string& id) override;
  Result<> Rename(const std::string& id, const std::string& name) override;
  Result<> Remove(const std::string& id) override;
  Result<> Prune(const std::string& home) override;
  Result<std::vector<Mismatch>> Verify(const SandboxSpec& spec, const std::string& id) override;
  Result<std::optional<Image>> FindImage(const std::string& reference) override;
  Result<> LoadImage(const std::string& tar_path, const Progress& progress) override;
  Result<> PullImage(const std::string& reference, const Progress& progress) override;
  Result<> BuildImage(const std::string& context_tar, const std::string& tag, const Progress& progress) override;
  Result<Stats> ReadStats(const std::string& id) override;
  Result<std::string> Logs(const std::string& id, int tail_lines) override;
  std::unique_ptr<Subscription> Subscribe(const std::string& home, std::function<void(const Event&)> on_event,
                                          std::function<void(bool up)> on_state) override;

 private:
  struct State {
    std::map<std::string, engine::ContainerInspect> containers;  // by id
    std::map<std::string, engine::ImageInspect> images;          // by reference
    std::map<std::string, std::string> offers;
    std::map<std::string, SandboxKey> bridges;  // by name
    std::map<Operation, std::pair<Error, int>> failures;
    std::map<Operation, int> calls;
    std::function<void(const std::string&)> on_start;
    bool available = true;
    int64_t last_time = 0;  // nanoseconds since the epoch
  };
  // Now, to the nanosecond as real engines tell it, and never the same twice: whoever tells two starts apart does it by their time.
  std::string EngineTime();
  // Counts the call, and the error that it has to fail with, if any. Under the lock.
  Result<> Enter(Operation operation);
  engine::ContainerInspect* Find(const std::string& id);
  engine::ContainerInspect* FindNamed(const std::string& name);
  const engine::ImageInspect* ImageOf(const std::string& reference) const;
  void End(engine::ContainerInspect& container, int exit_code);
  void Tell(const engine::ContainerInspect& container, const std::string& action);
  Result<> Bring(Operation operation, const std::string& from, const Progress& progress);

  const FakeOptions options_;
  mutable std::mutex mutex_;
  State state_;  // guarded by mutex_
  FakeEvents events_;
};

}  // namespace beige::runtime::fake

#endif
