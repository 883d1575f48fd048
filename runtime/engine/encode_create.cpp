#include <nlohmann/json.hpp>

#include "runtime/engine/wire.h"

namespace beige::runtime::engine {

namespace {

using Json = nlohmann::json;

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json EncodeMount(const MountPoint& mount) {
  Json out{{"Type", mount.type}, {"Target", mount.target}, {"ReadOnly", mount.read_only}};
  if (mount.type == "tmpfs") {
    out["TmpfsOptions"] = {{"SizeBytes", mount.size_bytes}, {"Mode", 0555}};
  } else {
    // The Mounts API, never Binds: a missing source is an error there, not a new directory of root's.
    out["Source"] = mount.source;
    out["BindOptions"] = {{"Propagation", "rprivate"}};
  }
  return out;
}

Json EncodeHost(const CreateRequest& request) {
  Json host{
      {"CapDrop", {"ALL"}},
      // No seccomp entry: the engine's default profile, which CompareProcess looks for on the live process.
      {"SecurityOpt", {"no-new-privileges:true"}},
      {"Privileged", false},
      {"ReadonlyRootfs", true},
      {"Init", false},
      {"IpcMode", "private"},
      {"CgroupnsMode", "private"},
      {"RestartPolicy", {{"Name", "no"}}},
      {"LogConfig", {{"Type", "json-file"}, {"Config", {{"max-size", "1m"}, {"max-file", "1"}}}}},
      {"NetworkMode", request.network_mode},
      {"Memory", request.memory},
      {"MemorySwap", request.memory_swap},
      {"NanoCpus", request.nano_cpus},
      {"PidsLimit", request.pids_limit},
      {"ShmSize", request.shm_size},
      {"OomScoreAdj", request.oom_score_adj},
      {"Tmpfs", request.tmpfs},
      {"Mounts", Json::array()},
      {"Ulimits", Json::array()},
  };
  if (!request.runtime.empty()) host["Runtime"] = request.runtime;
  for (const MountPoint& mount : request.mounts) host["Mounts"].push_back(EncodeMount(mount));
  for (const Ulimit& limit : request.ulimits) {
    host["Ulimits"].push_back({{"Name", limit.name}, {"Soft", limit.soft}, {"Hard", limit.hard}});
  }
  return host;
}

}  // namespace

std::string EncodeCreate(const CreateRequest& request) {
  Json env = Json::array();
  for (const auto& [name, value] : request.env) env.push_back(name + "=" + value);
  return Dump({
      {"Image", request.image},
      {"Entrypoint", request.entrypoint},
      {"Cmd", Json::array()},
      {"User", request.user},
      {"WorkingDir", request.working_dir},
      {"Hostname", request.hostname},
      {"Env", env},
      {"Labels", request.labels},
      {"StopSignal", "SIGTERM"},
      {"Healthcheck", {{"Test", {"NONE"}}}},
      {"Tty", false},
      {"OpenStdin", false},
      {"HostConfig", EncodeHost(request)},
  });
}

std::string EncodeBridge(const std::string& name, const std::map<std::string, std::string>& labels) {
  return Dump({
      {"Name", name},
      {"Driver", "bridge"},
      {"CheckDuplicate", true},  // names are not unique before API 1.44
      {"EnableIPv6", false},
      {"Attachable", false},
      {"Labels", labels},
      {"Options", {{"com.docker.network.bridge.enable_icc", "false"}}},
  });
}

}  // namespace beige::runtime::engine
