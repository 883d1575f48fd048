#include "runtime/fake/fake_runtime.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/random.h"
#include "runtime/engine/harden.h"
#include "runtime/engine/labels.h"
#include "runtime/engine/verify.h"
#include "runtime/fake/fake_inspect.h"

namespace beige::runtime::fake {

namespace {

tl::unexpected<Error> NoContainer(const std::string& doing, const std::string& id) {
  return Fail(Code::kNotFound, doing + " container " + id.substr(0, 12) + ": no such container");
}

}  // namespace

Result<> FakeRuntime::Enter(Operation operation) {
  ++state_.calls[operation];
  if (!state_.available) return Fail(Code::kUnavailable, "docker at (memory) does not answer: Connection refused; start it or set engine.socket");
  const auto it = state_.failures.find(operation);
  if (it == state_.failures.end()) return {};
  const Error error = it->second.first;
  if (--it->second.second <= 0) state_.failures.erase(it);
  return tl::make_unexpected(error);
}

engine::ContainerInspect* FakeRuntime::Find(const std::string& id) {
  const auto it = state_.containers.find(id);
  return it == state_.containers.end() ? nullptr : &it->second;
}

engine::ContainerInspect* FakeRuntime::FindNamed(const std::string& name) {
  for (auto& [id, container] : state_.containers) {
    if (container.name == name) return &container;
  }
  return nullptr;
}

Result<EngineInfo> FakeRuntime::Ping() {
  std::lock_guard lock(mutex_);
  BEIGE_TRY(Enter(Operation::kPing));
  return EngineInfo{"docker", "0.0.0-fake", "1.41"};
}

Result<std::vector<Observed>> FakeRuntime::List(const std::string& home) {
  std::lock_guard lock(mutex_);
  BEIGE_TRY(Enter(Operation::kList));
  std::vector<Observed> out;
  for (const auto& [id, container] : state_.containers) {
    Observed observed = engine::ToObserved(container);
    if (observed.key.home == home && !observed.key.uid.empty()) out.push_back(std::move(observed));
  }
  return out;
}

Result<std::optional<Observed>> FakeRuntime::Observe(const std::string& id) {
  std::lock_guard lock(mutex_);
  BEIGE_TRY(Enter(Operation::kObserve));
  const engine::ContainerInspect* container = Find(id);
  if (container == nullptr) return std::nullopt;
  return engine::ToObserved(*container);
}

Result<std::optional<Observed>> FakeRuntime::FindByName(const std::string& name) {
  std::lock_guard lock(mutex_);
  BEIGE_TRY(Enter(Operation::kFindByName));
  const engine::ContainerInspect* container = FindNamed(name);
  if (container == nullptr) return std::nullopt;
  return engine::ToObserved(*container);
}

Result<std::string> FakeRuntime::Create(const SandboxSpec& spec) {
  std::lock_guard lock(mutex_);
  BEIGE_TRY(Enter(Operation::kCreate));
  const engine::ImageInspect* image = ImageOf(spec.image);
  if (image == nullptr) return Fail(Code::kNotFound, "image " + spec.image + " is not in the engine; pull, load or build it");
  BEIGE_ASSIGN(const engine::CreateRequest request, engine::Harden(spec, *image, engine::FileLimit()));
  for (const Mount& mount : spec.mounts) {
    if (options_.check_mount_sources && !Exists(mount.source)) {
      return Fail(Code::kInvalid, "create container " + spec.name + ": bind source path does not exist: " + mount.source);
    }
  }
  if (FindNamed(spec.name) != nullptr) return Fail(Code::kConflict, "create container " + spec.name + ": the name is already in use");
  if (spec.network == Network::kOpen) state_.bridges[spec.name] = spec.key;
  engine::ContainerInspect container = AsCreated(request, *image);
  container.id = HexEncode(RandomBytes(32));
  container.name = spec.name;
  const std::string id = container.id;
  Tell(container, "create");
  state_.containers[id] = std::move(container);
  return id;
}

Result<> FakeRuntime::Start(const std::string& id) {
  std::function<void(const std::string&)> hook;
  {
    std::lock_guard lock(mutex_);
    BEIGE_TRY(Enter(Operation::kStart));
    engine::ContainerInspect* container = Find(id);
    if (container == nullptr) return NoContainer("start", id);
    if (container->paused) return Fail(Code::kConflict, "start container " + id.substr(0, 12) + ": cannot start a paused container, try unpause instead");
    if (container->running) return {};
    container->running = true;
    container->oom_killed = false;
    container->status = "running";
    container->exit_code = 0;
    container->started_at = EngineTime();
    Tell(*container, "start");
    hook = state_.on_start;
  }
  if (hook) hook(id);
  return {};
}

Result<> FakeRuntime::Stop(const std::string& id, int) {
  std::lock_guard lock(mutex_);
  BEIGE_TRY(Enter(Operation::kStop));
  engine::ContainerInspect* container = Find(id);
  if (container == nullptr || !container->running) return {};
  Tell(*container, "kill");
  End(*container, 143);
  Tell(*container, "stop");
  return {};
}

Result<> FakeRuntime::Unpause(const std::string& id) {
  std::lock_guard lock(mutex_);
  BEIGE_TRY(Enter(Operation::kUnpause));
  engine::ContainerInspect* container = Find(id);
  if (container == nullptr) return NoContainer("unpause", id);
  if (!container->paused) return {};
  container->paused = false;
  container->status = "running";
  Tell(*container, "unpause");
  return {};
}

Result<> FakeRuntime::Rename(const std::string& id, const std::string& name) {
  std::lock_guard lock(mutex_);
  BEIGE_TRY(Enter(Operation::kRename));
  engine::ContainerInspect* container = Find(id);
  if (container == nullptr) return NoContainer("rename", id);
  if (container->name == name) return {};
  if (FindNamed(name) != nullptr) return Fail(Code::kConflict, "rename container " + container->name + " to " + name + ": the name is already in use");
  container->name = name;
  Tell(*container, "rename");
  return {};
}

Result<> FakeRuntime::Remove(const std::string& id) {
  std::lock_guard lock(mutex_);
  BEIGE_TRY(Enter(Operation::kRemove));
  engine::ContainerInspect* container = Find(id);
  if (container == nullptr) return {};
  const SandboxKey key = engine::KeyOf(container->labels);
  if (key.uid.empty()) {
    return Fail(Code::kDenied, "remove container " + container->name + ": its labels do not say that Beige made it; left alone");
  }
  if (container->running) End(*container, 137);
  Tell(*container, "destroy");
  state_.containers.erase(container->id);
  std::erase_if(state_.bridges, [&](const auto& bridge) { return bridge.second == key; });
  return {};
}

Result<> FakeRuntime::Prune(const std::string& home) {
  std::lock_guard lock(mutex_);
  BEIGE_TRY(Enter(Operation::kPrune));
  std::set<std::string> uids;
  for (const auto& [id, container] : state_.containers) uids.insert(engine::KeyOf(container.labels).uid);
  std::erase_if(state_.bridges, [&](const auto& bridge) { return bridge.second.home == home && !uids.contains(bridge.second.uid); });
  return {};
}

Result<std::vector<Mismatch>> FakeRuntime::Verify(const SandboxSpec& spec, const std::string& id) {
  std::lock_guard lock(mutex_);
  BEIGE_TRY(Enter(Operation::kVerify));
  const engine::ContainerInspect* container = Find(id);
  if (container == nullptr) return NoContainer("verify", id);
  engine::ImageInspect image;
  image.volumes = container->volumes;
  if (const engine::ImageInspect* known = ImageOf(container->image_id)) image = *known;
  BEIGE_ASSIGN(const engine::CreateRequest want, engine::Harden(spec, image, engine::FileLimit()));
  std::vector<Mismatch> out = engine::CompareInspect(want, *container, image.env, {});
  if (!container->running) out.push_back({"state", "running", container->status});
  return out;
}

Result<Stats> FakeRuntime::ReadStats(const std::string& id) {
  std::lock_guard lock(mutex_);
  BEIGE_TRY(Enter(Operation::kReadStats));
  const engine::ContainerInspect* container = Find(id);
  if (container == nullptr) return NoContainer("stats of", id);
  return container->running ? Stats{4 << 20, 1'000'000, 1} : Stats{};
}

Result<std::string> FakeRuntime::Logs(const std::string& id, int) {
  std::lock_guard lock(mutex_);
  BEIGE_TRY(Enter(Operation::kLogs));
  if (Find(id) == nullptr) return NoContainer("logs of", id);
  return "";
}

std::unique_ptr<SandboxRuntime::Subscription> FakeRuntime::Subscribe(const std::string& home, std::function<void(const Event&)> on_event,
                                                                     std::function<void(bool up)> on_state) {
  return events_.Subscribe(home, std::move(on_event), std::move(on_state));
}

}  // namespace beige::runtime::fake
