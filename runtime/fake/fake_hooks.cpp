#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "base/random.h"
#include "runtime/engine/labels.h"
#include "runtime/fake/fake_runtime.h"

namespace beige::runtime::fake {

FakeRuntime::FakeRuntime(FakeOptions options) : options_(options) {}

void FakeRuntime::AddImage(const std::string& reference, engine::ImageInspect image) {
  std::lock_guard lock(mutex_);
  state_.images[reference] = std::move(image);
}

void FakeRuntime::AddImage(const std::string& reference) {
  engine::ImageInspect image;
  image.id = "sha256:" + Sha256Hex(reference);
  AddImage(reference, std::move(image));
}

void FakeRuntime::RemoveImage(const std::string& reference) {
  std::lock_guard lock(mutex_);
  state_.images.erase(reference);
}

void FakeRuntime::OfferImage(const std::string& reference_or_path, const std::string& brings) {
  std::lock_guard lock(mutex_);
  state_.offers[reference_or_path] = brings;
}

void FakeRuntime::End(engine::ContainerInspect& container, int exit_code) {
  container.running = container.paused = false;
  container.pid = 0;
  container.status = "exited";
  container.exit_code = exit_code;
  container.finished_at = EngineTime();
  Tell(container, "die");
}

std::string FakeRuntime::EngineTime() {
  const int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  state_.last_time = std::max(now, state_.last_time + 1);
  const SystemTime time{std::chrono::duration_cast<SystemTime::duration>(std::chrono::nanoseconds(state_.last_time))};
  std::string text = FormatTime(time);  // ...T12:00:00.123Z
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, "%09d", static_cast<int>(state_.last_time % 1000000000));
  return text.replace(text.find('.') + 1, 3, fraction);
}

void FakeRuntime::Tell(const engine::ContainerInspect& container, const std::string& action) {
  events_.Publish({action, engine::KeyOf(container.labels), container.id});
}

void FakeRuntime::Kill(const std::string& id, int exit_code) {
  std::lock_guard lock(mutex_);
  engine::ContainerInspect* container = Find(id);
  if (container == nullptr || !container->running) return;
  Tell(*container, "kill");
  End(*container, exit_code);
}

void FakeRuntime::OomKill(const std::string& id) {
  std::lock_guard lock(mutex_);
  engine::ContainerInspect* container = Find(id);
  if (container == nullptr || !container->running) return;
  container->oom_killed = true;
  Tell(*container, "oom");
  End(*container, 137);
}

void FakeRuntime::Pause(const std::string& id) {
  std::lock_guard lock(mutex_);
  engine::ContainerInspect* container = Find(id);
  if (container == nullptr || !container->running) return;
  container->paused = true;
  container->status = "paused";
  Tell(*container, "pause");
}

void FakeRuntime::RemoveByHand(const std::string& id) {
  std::lock_guard lock(mutex_);
  engine::ContainerInspect* container = Find(id);
  if (container == nullptr) return;
  if (container->running) End(*container, 137);
  Tell(*container, "destroy");
  state_.containers.erase(container->id);
}

void FakeRuntime::RenameByHand(const std::string& id, const std::string& name) {
  std::lock_guard lock(mutex_);
  engine::ContainerInspect* container = Find(id);
  if (container == nullptr) return;
  container->name = name;
  Tell(*container, "rename");
}

void FakeRuntime::Edit(const std::string& id, const std::function<void(engine::ContainerInspect&)>& change) {
  std::lock_guard lock(mutex_);
  if (engine::ContainerInspect* container = Find(id)) change(*container);
}

std::string FakeRuntime::AddForeign(const std::string& name, std::map<std::string, std::string> labels) {
  std::lock_guard lock(mutex_);
  engine::ContainerInspect container;
  container.id = HexEncode(RandomBytes(32));
  container.name = name;
  container.labels = std::move(labels);
  container.status = "running";
  container.running = true;
  const std::string id = container.id;
  state_.containers[id] = std::move(container);
  return id;
}

void FakeRuntime::FailNext(Operation operation, Error error, int times) {
  std::lock_guard lock(mutex_);
  if (times <= 0) {
    state_.failures.erase(operation);
  } else {
    state_.failures[operation] = {std::move(error), times};
  }
}

void FakeRuntime::SetAvailable(bool available) {
  {
    std::lock_guard lock(mutex_);
    state_.available = available;
  }
  events_.SetUp(available);
}

void FakeRuntime::OnStart(std::function<void(const std::string&)> hook) {
  std::lock_guard lock(mutex_);
  state_.on_start = std::move(hook);
}

int FakeRuntime::Calls(Operation operation) const {
  std::lock_guard lock(mutex_);
  const auto it = state_.calls.find(operation);
  return it == state_.calls.end() ? 0 : it->second;
}

int FakeRuntime::WritingCalls() const {
  int sum = 0;
  for (const Operation operation : {Operation::kCreate, Operation::kStart, Operation::kStop, Operation::kUnpause, Operation::kRename,
                                    Operation::kRemove}) {
    sum += Calls(operation);
  }
  return sum;
}

std::vector<std::string> FakeRuntime::Bridges() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [name, key] : state_.bridges) out.push_back(name);
  return out;
}

}  // namespace beige::runtime::fake
