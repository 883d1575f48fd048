#ifndef BEIGE_RUNTIME_ENGINE_PROCESS_FACTS_H_
#define BEIGE_RUNTIME_ENGINE_PROCESS_FACTS_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mount_info.h"
#include "base/result.h"

namespace beige::runtime::engine {

using MountFact = MountInfo;

struct IdRange {
  int64_t inside = 0;
  int64_t outside = 0;
  int64_t count = 0;
};

// What a mount's target is, followed from the container's root as the container would.
struct TargetFact {
  uint64_t mount_id = 0;
  bool same_as_source = false;  // same file as the source on this host, reached without a link beneath its root
};

// Of a bind mount; see runtime::Mount::root.
struct Source {
  std::string path;
  std::string root;
};
using Sources = std::map<std::string, Source>;  // by target

struct StatusFacts {
  std::string name;
  std::vector<int64_t> uids;  // real, effective, saved, file system
  std::vector<int64_t> gids;
  std::vector<int64_t> groups;
  std::map<std::string, std::string> capabilities;  // CapInh, CapPrm, CapEff, CapBnd, CapAmb -> hex
  std::string no_new_privileges;
  std::string seccomp;  // 2 = filter
  std::vector<int64_t> pids;  // from this namespace inwards
};

// Limits as the kernel enforces them; nullopt where the control group can't be read here. -1 = no limit.
struct CgroupFacts {
  std::optional<int64_t> memory;
  std::optional<int64_t> memory_swap;  // memory and swap together
  std::optional<int64_t> pids;
  std::optional<int64_t> nano_cpus;
};

// A container's first process as the kernel knows it.
struct ProcessFacts {
  StatusFacts status;
  std::vector<IdRange> uid_map;
  std::vector<IdRange> gid_map;
  std::vector<MountFact> mounts;
  std::vector<std::string> interfaces;  // but for the kernel's idle fallback tunnels
  std::string core_limit;               // hard, "0"
  std::string files_limit;              // hard
  CgroupFacts cgroup;
  // By target; without entry where this process may not follow it.
  std::map<std::string, TargetFact> targets;
  std::vector<std::string> shared_namespaces;  // with this process: pid, net, ...; as far as they can be read
  std::vector<std::string> devices;            // in its /dev, beyond those that every container has
  std::vector<std::string> hidden_here;        // of kMaskedPaths and kReadonlyPaths, those that this kernel has
};

StatusFacts ParseStatus(std::string_view text);
using beige::ParseMountInfo;
std::vector<IdRange> ParseIdMap(std::string_view text);
std::vector<std::string> ParseInterfaces(std::string_view net_dev);
std::string ParseHardLimit(std::string_view limits, std::string_view name);
// `outside` as the container sees it; -1 when it has no such id.
int64_t InsideId(const std::vector<IdRange>& map, int64_t outside);

// Reads /proc/<pid>. nullopt when `pid` is not visible here as a process of container `container_id` (an engine on another host, in a
// virtual machine or in another pid namespace). `sources`: of each bind mount.
Result<std::optional<ProcessFacts>> ReadProcess(pid_t pid, const std::string& container_id, const Sources& sources);

CgroupFacts ReadCgroup(std::string_view proc_cgroup);  // text of /proc/<pid>/cgroup

}  // namespace beige::runtime::engine

#endif
