#ifndef BEIGE_RUNTIME_ENGINE_VERIFY_H_
#define BEIGE_RUNTIME_ENGINE_VERIFY_H_

#include <array>
#include <map>
#include <string>
#include <vector>

#include "runtime/engine/process_facts.h"
#include "runtime/engine/wire.h"
#include "runtime/sandbox.h"

namespace beige::runtime::engine {

// What every engine hides in a container's /proc and /sys, and what it makes read-only there.
inline constexpr std::array kMaskedPaths{"/proc/acpi",       "/proc/kcore",       "/proc/keys", "/proc/latency_stats",
                                         "/proc/timer_list", "/proc/sched_debug", "/proc/scsi", "/sys/firmware"};
inline constexpr std::array kReadonlyPaths{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"};

// How an engine reports what it was asked for, where engines differ.
struct Dialect {
  bool is_docker = true;  // Podman reports a private IPC mode as shareable, no cgroup namespace mode and defaults of its own
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
