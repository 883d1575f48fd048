#ifndef BEIGE_RUNTIME_ENGINE_VERIFY_H_
#define BEIGE_RUNTIME_ENGINE_VERIFY_H_

#include <map>
#include <string>
#include <vector>

#include "runtime/engine/process_facts.h"
#include "runtime/engine/wire.h"
#include "runtime/sandbox.h"

namespace beige::runtime::engine {

// How an engine reports what it was asked for, where engines differ.
struct Dialect {
  bool reports_namespace_modes = true;  // Podman reports a private IPC mode as shareable and no cgroup namespace mode
};

// What the engine says that the container has, against what was asked for and against what no sandbox may have (privileges, devices,
// published ports, foreign namespaces, an init, a restart policy, a health check, volumes). `image_env` is what the image may add.
std::vector<Mismatch> CompareInspect(const CreateRequest& want, const ContainerInspect& have,
                                     const std::map<std::string, std::string>& image_env, const Dialect& dialect);

// What the kernel says of the live process. Engines ignore fields silently; the kernel does not lie about them.
std::vector<Mismatch> CompareProcess(const CreateRequest& want, const ProcessFacts& have);

// The kernel's list of the container's mounts against ours and the few that every container has.
std::vector<Mismatch> CompareMounts(const CreateRequest& want, const ProcessFacts& have);

}  // namespace beige::runtime::engine

#endif
