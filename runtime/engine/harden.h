#ifndef BEIGE_RUNTIME_ENGINE_HARDEN_H_
#define BEIGE_RUNTIME_ENGINE_HARDEN_H_

#include "base/result.h"
#include "runtime/engine/wire.h"
#include "runtime/sandbox.h"

namespace beige::runtime::engine {

// Most descriptors a job may have. Lower where this process's own hard limit is lower: an engine can't raise a limit above its own,
// and the start would fail.
inline constexpr int64_t kMostFiles = 20'000;
int64_t FileLimit();

// What to ask an engine for so that `spec` runs as a hardened sandbox on `image`:
// - user and memory (swap included), CPU and pids limits as given, descriptors limited, no core files;
// - /tmp a tmpfs on which programs can be executed, /dev/shm within the memory limit;
// - each VOLUME of the image that is none of our mounts becomes an empty read-only tmpfs, so that no anonymous volume is made;
// - variables of the image stay unless the spec has them, but for those that speak to Beige or to the dynamic loader.
// Invalid names the field for a spec that could not be safe or that no engine takes: uid 0, no limit, a relative target, a VOLUME beneath a
// bind mount (the engine would write a directory of root's into it).
Result<CreateRequest> Harden(const SandboxSpec& spec, const ImageInspect& image, int64_t file_limit);

}  // namespace beige::runtime::engine

#endif
