#include <nlohmann/json.hpp>

#include "runtime/engine/json_read.h"
#include "runtime/engine/labels.h"
#include "runtime/engine/unasked.h"
#include "runtime/engine/wire.h"

namespace beige::runtime::engine {

namespace {

void ReadState(const Json& state, ContainerInspect& out) {
  out.status = Text(state, "Status");
  out.running = Flag(state, "Running");
  out.paused = Flag(state, "Paused");
  out.oom_killed = Flag(state, "OOMKilled");
  out.exit_code = static_cast<int>(Integer(state, "ExitCode"));
  out.pid = Integer(state, "Pid");
  out.error = Text(state, "Error");
  out.started_at = Text(state, "StartedAt");
  out.finished_at = Text(state, "FinishedAt");
}

void ReadConfig(const Json& config, ContainerInspect& out) {
  out.image_ref = Text(config, "Image");
  out.labels = TextMap(config, "Labels");
  out.user = Text(config, "User");
  out.entrypoint = Texts(config, "Entrypoint");
  out.cmd = Texts(config, "Cmd");
  out.env = Texts(config, "Env");
  out.volumes = Keys(config, "Volumes");
  out.healthcheck = Texts(At(config, "Healthcheck"), "Test");
  out.working_dir = Text(config, "WorkingDir");
  out.hostname = Text(config, "Hostname");
  out.domain_name = Text(config, "Domainname");
  out.stop_signal = Text(config, "StopSignal");
  out.tty = Flag(config, "Tty");
  out.open_stdin = Flag(config, "OpenStdin");
}

void ReadModes(const Json& host, ContainerInspect& out) {
  out.network_mode = Text(host, "NetworkMode");
  out.ipc_mode = Text(host, "IpcMode");
  out.pid_mode = Text(host, "PidMode");
  out.uts_mode = Text(host, "UTSMode");
  out.userns_mode = Text(host, "UsernsMode");
  out.cgroupns_mode = Text(host, "CgroupnsMode");
  out.runtime = Text(host, "Runtime");
  out.restart_policy = Text(At(host, "RestartPolicy"), "Name");
  out.log_type = Text(At(host, "LogConfig"), "Type");
  out.log_options = TextMap(At(host, "LogConfig"), "Config");
  out.privileged = Flag(host, "Privileged");
  out.read_only_root = Flag(host, "ReadonlyRootfs");
  out.publish_all_ports = Flag(host, "PublishAllPorts");
  out.oom_kill_disabled = Flag(host, "OomKillDisable");
  out.init = Flag(host, "Init");
}

void ReadGrants(const Json& host, ContainerInspect& out) {
  out.cap_add = Texts(host, "CapAdd");
  out.cap_drop = Texts(host, "CapDrop");
  out.security_options = Texts(host, "SecurityOpt");
  out.group_add = Texts(host, "GroupAdd");
  out.binds = Texts(host, "Binds");
  out.volumes_from = Texts(host, "VolumesFrom");
  for (const char* kind : {"Devices", "DeviceCgroupRules", "DeviceRequests"}) {
    for (const std::string& device : Texts(host, kind)) out.devices.push_back(device);
  }
  out.ports = Keys(host, "PortBindings");
  out.sysctls = Keys(host, "Sysctls");
  out.tmpfs = TextMap(host, "Tmpfs");
  out.masked_paths = Texts(host, "MaskedPaths");
  out.readonly_paths = Texts(host, "ReadonlyPaths");
  out.unasked = UnaskedSettings(host);
}

void ReadLimits(const Json& host, ContainerInspect& out) {
  out.memory = Integer(host, "Memory");
  out.memory_swap = Integer(host, "MemorySwap");
  out.nano_cpus = Integer(host, "NanoCpus");
  out.pids_limit = Integer(host, "PidsLimit");
  out.shm_size = Integer(host, "ShmSize");
  out.oom_score_adj = static_cast<int>(Integer(host, "OomScoreAdj"));
  for (const Json& limit : At(host, "Ulimits")) {
    out.ulimits.push_back({Text(limit, "Name"), Integer(limit, "Soft"), Integer(limit, "Hard")});
  }
}

std::string TimeOrNone(const std::string& time) { return time.starts_with("0001-") ? "" : time; }

}  // namespace

Result<ContainerInspect> DecodeContainer(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  ContainerInspect out;
  out.id = Text(json, "Id");
  if (out.id.empty()) return Fail(Code::kInternal, "inspect: the engine's answer has no container Id");
  out.name = Text(json, "Name");
  if (out.name.starts_with('/')) out.name.erase(0, 1);
  out.image_id = Text(json, "Image");
  ReadState(At(json, "State"), out);
  ReadConfig(At(json, "Config"), out);
  const Json& host = At(json, "HostConfig");
  ReadModes(host, out);
  ReadGrants(host, out);
  ReadLimits(host, out);
  for (const Json& mount : At(json, "Mounts")) {
    const std::string propagation = Text(mount, "Propagation");
    out.mounts.push_back({Text(mount, "Type"), Text(mount, "Source"), Text(mount, "Destination"), !Flag(mount, "RW"), 0,
                          propagation == "rprivate" ? "" : propagation});
  }
  out.networks = Keys(At(json, "NetworkSettings"), "Networks");
  return out;
}

State ToState(std::string_view status) {
  if (status == "created" || status == "configured" || status == "initialized") return State::kCreated;
  if (status == "running") return State::kRunning;
  if (status == "paused") return State::kPaused;
  if (status == "restarting") return State::kRestarting;
  if (status == "exited" || status == "stopped") return State::kExited;
  if (status == "dead" || status == "removing") return State::kDead;
  return State::kUnknown;
}

Observed ToObserved(const ContainerInspect& container) {
  Observed out;
  out.id = container.id;
  out.name = container.name;
  ReadLabels(container.labels, out);
  out.state = ToState(container.status);
  out.exit_code = container.exit_code;
  out.oom_killed = container.oom_killed;
  out.started_at = TimeOrNone(container.started_at);
  out.finished_at = TimeOrNone(container.finished_at);
  out.image_id = container.image_id;
  out.image_ref = container.image_ref;
  return out;
}

Result<std::vector<std::string>> DecodeIds(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_array()) return Fail(Code::kInternal, "list: the engine's answer is no JSON array");
  std::vector<std::string> ids;
  for (const Json& entry : json) ids.push_back(Text(entry, "Id"));
  return ids;
}

Result<std::string> DecodeId(std::string_view body) {
  std::string id = Text(Json::parse(body, nullptr, false), "Id");
  if (id.empty()) return Fail(Code::kInternal, "create: the engine's answer has no Id");
  return id;
}

}  // namespace beige::runtime::engine
