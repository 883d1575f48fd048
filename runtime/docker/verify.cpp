#include "runtime/engine/verify.h"

#include <chrono>
#include <map>
#include <thread>

#include "runtime/docker/docker_impl.h"
#include "runtime/engine/harden.h"
#include "runtime/engine/process_facts.h"

namespace beige::runtime::docker {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kInitWait{3'000};
constexpr milliseconds kInitPoll{5};

// Under gVisor or Kata the host's process is the sandbox's kernel, not the agent's program; there the engine's word has to do.
bool IsNativeRuntime(const std::string& runtime) {
  return runtime.empty() || runtime == "runc" || runtime == "crun" || runtime == "io.containerd.runc.v2";
}

// `start` answers a moment before the runtime's init has become the program; seccomp and the name change only then.
bool IsRuntimeInit(const engine::ProcessFacts& facts) { return facts.status.name.starts_with("runc:[") || facts.status.name == "crun"; }

Result<std::optional<engine::ProcessFacts>> ReadSettled(const engine::ContainerInspect& container,
                                                        const engine::Sources& sources) {
  const auto until = std::chrono::steady_clock::now() + kInitWait;
  for (;;) {
    BEIGE_ASSIGN(auto facts, engine::ReadProcess(static_cast<pid_t>(container.pid), container.id, sources));
    if (!facts || !IsRuntimeInit(*facts) || std::chrono::steady_clock::now() > until) return facts;
    std::this_thread::sleep_for(kInitPoll);
  }
}

}  // namespace

Result<engine::EngineDefaults> DockerRuntime::Defaults() {
  if (const auto known = defaults_.Copy()) return *known;
  BEIGE_ASSIGN(const engine::Response answer, http_.Request(engine::Call{.operation = "info", .path = "/info", .deadline = options_.deadline}));
  BEIGE_ASSIGN(const engine::EngineDefaults defaults, engine::DecodeDefaults(answer.body));
  defaults_.Set(defaults);
  return defaults;
}

Result<std::vector<Mismatch>> DockerRuntime::Verify(const SandboxSpec& spec, const std::string& id) {
  BEIGE_ASSIGN(const auto container, Inspect(id));
  if (!container) return Fail(Code::kNotFound, "verify container " + id.substr(0, 12) + ": no such container");
  engine::ImageInspect image;
  BEIGE_ASSIGN(auto found, InspectImage(container->image_id));
  if (found) {
    image = std::move(*found);
  } else {
    image.volumes = container->volumes;  // the image was removed by force; the container has its volumes
  }
  BEIGE_ASSIGN(const engine::EngineDefaults defaults, Defaults());
  BEIGE_ASSIGN(engine::CreateRequest want, engine::Harden(spec, image, engine::FileLimit()));
  if (want.runtime.empty()) want.runtime = defaults.runtime;  // another one would be read back with less care, see below
  std::vector<Mismatch> out = engine::CompareInspect(want, *container, image.env, {});
  // The live process has a filter of PID 1's own, so the kernel alone does not show that the engine's is missing.
  if (!defaults.seccomp) out.push_back({"seccomp profile of the engine", "its default", "none"});
  if (!container->running) {
    out.push_back({"state", "running", container->status});
    return out;
  }
  if (!IsNativeRuntime(container->runtime)) return out;
  engine::Sources sources;
  for (const Mount& mount : spec.mounts) sources[mount.target] = {mount.source, mount.root};
  BEIGE_ASSIGN(const auto facts, ReadSettled(*container, sources));
  if (!facts) return out;
  for (Mismatch& mismatch : engine::CompareProcess(want, *facts)) out.push_back(std::move(mismatch));
  return out;
}

}  // namespace beige::runtime::docker
