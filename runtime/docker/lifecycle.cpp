#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <thread>

#include "runtime/docker/docker_impl.h"
#include "runtime/engine/harden.h"

namespace beige::runtime::docker {

using engine::Call;
using engine::Escape;
using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

namespace {

// How long a container that is being removed may go on holding its name, and how often it is looked at.
constexpr milliseconds kRemovalWait{10'000};
constexpr milliseconds kRemovalPoll{50};

std::string ContainerPath(const std::string& id, const std::string& verb) { return "/containers/" + Escape(id) + verb; }

}  // namespace

Result<std::string> DockerRuntime::CreateNamed(const std::string& name, const std::string& body) {
  const auto until = Steady::now() + kRemovalWait;
  for (;;) {
    auto made = http_.Request(Call{.operation = "create",
                                   .method = "POST",
                                   .path = "/containers/create?name=" + Escape(name),
                                   .body = body,
                                   .deadline = options_.start_deadline});
    if (made) return engine::DecodeId(made->body);
    if (made.error().code != Code::kConflict || Steady::now() > until) return FailIn("create container " + name, made.error());
    BEIGE_ASSIGN(const auto holder, Inspect(name));
    const bool going = !holder || holder->status == "removing" || holder->status == "dead";
    if (!going) return FailIn("create container " + name, made.error());
    std::this_thread::sleep_for(kRemovalPoll);
  }
}

Result<std::string> DockerRuntime::Create(const SandboxSpec& spec) {
  BEIGE_ASSIGN(const auto image, InspectImage(spec.image));
  if (!image) return Fail(Code::kNotFound, "image " + spec.image + " is not in the engine; pull, load or build it");
  BEIGE_ASSIGN(const engine::CreateRequest request, engine::Harden(spec, *image, engine::FileLimit()));
  std::optional<NetworkLease> lease;
  bool made_network = false;
  if (spec.network == Network::kOpen) {
    lease.emplace(networks_, spec.key.uid);
    BEIGE_ASSIGN(made_network, networks_.Ensure(spec.name, spec.key));
  }
  auto id = CreateNamed(spec.name, engine::EncodeCreate(request));
  // The create's error says more than one of the clean-up; a bridge that stays is taken over by the next create.
  if (!id && made_network) (void)networks_.Remove(spec.key);
  return id;
}

Result<> DockerRuntime::Start(const std::string& id) {
  auto started = http_.Request(
      Call{.operation = "start", .method = "POST", .path = ContainerPath(id, "/start"), .deadline = options_.start_deadline});
  if (started) return {};
  Error error = started.error();
  // Docker answers 404 for a program that the image lacks, too; the container is still there then.
  if (error.code == Code::kNotFound) {
    if (auto there = Observe(id); there && *there) error.code = Code::kInvalid;
  }
  return FailIn("start container " + id.substr(0, 12), error);
}

Result<> DockerRuntime::Stop(const std::string& id, int grace_seconds) {
  const int grace = std::max(0, grace_seconds);
  auto stopped = http_.Request(Call{.operation = "stop",
                                    .method = "POST",
                                    .path = ContainerPath(id, "/stop?t=" + std::to_string(grace)),
                                    .deadline = options_.deadline + std::chrono::seconds(grace)});
  if (stopped || stopped.error().code == Code::kNotFound) return {};
  return FailIn("stop container " + id.substr(0, 12), stopped.error());
}

Result<> DockerRuntime::Unpause(const std::string& id) {
  BEIGE_ASSIGN(const auto container, Inspect(id));
  if (!container) return Fail(Code::kNotFound, "unpause container " + id.substr(0, 12) + ": no such container");
  if (!container->paused) return {};
  auto done = http_.Request(
      Call{.operation = "unpause", .method = "POST", .path = ContainerPath(id, "/unpause"), .deadline = options_.deadline});
  if (done) return {};
  return FailIn("unpause container " + id.substr(0, 12), done.error());
}

Result<> DockerRuntime::Rename(const std::string& id, const std::string& name) {
  BEIGE_ASSIGN(const auto container, Inspect(id));
  if (!container) return Fail(Code::kNotFound, "rename container " + id.substr(0, 12) + ": no such container");
  if (container->name == name) return {};
  auto done = http_.Request(Call{.operation = "rename",
                                 .method = "POST",
                                 .path = ContainerPath(id, "/rename?name=" + Escape(name)),
                                 .deadline = options_.deadline});
  if (done) return {};
  return FailIn("rename container " + container->name + " to " + name, done.error());
}

Result<> DockerRuntime::Delete(const std::string& id) {
  const auto until = Steady::now() + kRemovalWait;
  for (;;) {
    auto gone = http_.Request(Call{.operation = "remove",
                                   .method = "DELETE",
                                   .path = ContainerPath(id, "?force=true&v=true"),
                                   .deadline = options_.start_deadline});
    if (gone || gone.error().code == Code::kNotFound) break;
    // "removal of container X is already in progress"
    if (gone.error().code != Code::kConflict || Steady::now() > until) return FailIn("remove container " + id.substr(0, 12), gone.error());
    std::this_thread::sleep_for(kRemovalPoll);
  }
  return {};
}

Result<> DockerRuntime::Remove(const std::string& id) {
  BEIGE_ASSIGN(const auto container, Inspect(id));
  if (!container) return {};
  const SandboxKey key = engine::ToObserved(*container).key;
  if (key.uid.empty()) {
    return Fail(Code::kDenied, "remove container " + container->name + ": its labels do not say that Beige made it; left alone");
  }
  BEIGE_TRY(Delete(container->id));
  return networks_.Remove(key);
}

Result<> DockerRuntime::Prune(const std::string& home) {
  BEIGE_ASSIGN(const std::vector<Observed> live, List(home));
  std::set<std::string> uids;
  for (const Observed& observed : live) uids.insert(observed.key.uid);
  return networks_.Prune(home, uids);
}

}  // namespace beige::runtime::docker
