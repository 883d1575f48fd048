#include <algorithm>

#include "runtime/engine/harden.h"
#include "runtime/engine/mismatch_list.h"
#include "runtime/engine/verify.h"

namespace beige::runtime::engine {

namespace {

using Strings = std::vector<std::string>;

void CompareIdentity(const CreateRequest& want, const ContainerInspect& have, MismatchList& out) {
  if (want.image.starts_with("sha256:")) {
    out.Expect("image", want.image, have.image_id.starts_with("sha256:") ? have.image_id : "sha256:" + have.image_id);
  } else {
    out.Expect("image", want.image, have.image_ref);  // a tag may have moved on since the create
  }
  for (const auto& [name, value] : want.labels) {
    const auto it = have.labels.find(name);
    out.Expect("label " + name, value, it == have.labels.end() ? std::string() : it->second);
  }
  out.Expect("user", want.user, have.user);
  out.Expect("command", want.entrypoint, have.entrypoint);
  out.ExpectNone("arguments of the image", have.cmd);
  out.Expect("working directory", want.working_dir, have.working_dir);
  out.Expect("hostname", want.hostname, have.hostname);
  out.Expect("domain name", std::string(), have.domain_name);
  out.Expect("stop signal", std::string("SIGTERM"), have.stop_signal);
  if (have.healthcheck != Strings{"NONE"} && !have.healthcheck.empty()) out.Add("health check", "none", Show(have.healthcheck));
  out.Expect("terminal", false, have.tty);
  out.Expect("open stdin", false, have.open_stdin);
}

void CompareEnv(const CreateRequest& want, const ContainerInspect& have, const std::map<std::string, std::string>& image_env,
                MismatchList& out) {
  const auto env = SplitEnv(have.env);
  for (const auto& [name, value] : want.env) {
    const auto it = env.find(name);
    out.Expect("variable " + name, value, it == env.end() ? std::string() : it->second);
  }
  for (const auto& [name, value] : env) {
    if (want.env.contains(name)) continue;
    const auto of_image = image_env.find(name);
    if (of_image != image_env.end() && of_image->second == value) continue;
    if (name == "PATH" || name == "HOME" || name == "HOSTNAME" || name == "TERM" || name == "container") continue;  // the engine's own
    out.Add("variable " + name, "none", value);
  }
}

template <size_t N>
void ExpectPaths(const std::string& kind, const std::array<const char*, N>& want, const Strings& have, MismatchList& out) {
  for (const std::string path : want) {
    if (std::find(have.begin(), have.end(), path) == have.end()) out.Add(kind + " " + path, "yes", "no");
  }
}

void CompareIsolation(const CreateRequest& want, const ContainerInspect& have, const Dialect& dialect, MismatchList& out) {
  out.Expect("privileged", false, have.privileged);
  out.ExpectNone("added capabilities", have.cap_add);
  out.Expect("read-only root", true, have.read_only_root);
  Strings security = have.security_options;
  for (std::string& option : security) {
    if (option == "no-new-privileges" || option == "no-new-privileges=true") option = "no-new-privileges:true";
  }
  out.Expect("security options", Strings{"no-new-privileges:true"}, security);
  out.Expect("init of the engine", false, have.init);
  out.Expect("pid namespace", std::string(), have.pid_mode == "private" ? "" : have.pid_mode);
  out.Expect("uts namespace", std::string(), have.uts_mode == "private" ? "" : have.uts_mode);
  out.Expect("user namespace", std::string(), have.userns_mode);
  if (dialect.is_docker) {
    out.Expect("dropped capabilities", Strings{"ALL"}, have.cap_drop);
    out.Expect("ipc namespace", std::string("private"), have.ipc_mode);
    out.Expect("cgroup namespace", std::string("private"), have.cgroupns_mode);
  } else if (have.ipc_mode == "host" || have.cgroupns_mode == "host") {
    out.Add("ipc and cgroup namespaces", "private", have.ipc_mode + " " + have.cgroupns_mode);
  }
  if (!want.runtime.empty()) out.Expect("runtime", want.runtime, have.runtime);
  out.ExpectNone("devices", have.devices);
  out.ExpectNone("added groups", have.group_add);
  out.ExpectNone("sysctls", have.sysctls);
  out.ExpectNone("published ports", have.ports);
  out.Expect("publish all ports", false, have.publish_all_ports);
  if (have.restart_policy != "no" && !have.restart_policy.empty()) out.Add("restart policy", "no", have.restart_policy);
  if (!dialect.is_docker) return;
  out.Expect("log driver", std::string("json-file"), have.log_type);
  for (const auto& [option, value] : std::map<std::string, std::string>{{"max-size", "1m"}, {"max-file", "1"}}) {
    const auto it = have.log_options.find(option);
    out.Expect("log option " + option, value, it == have.log_options.end() ? std::string() : it->second);
  }
  ExpectPaths("masked path", kMaskedPaths, have.masked_paths, out);
  ExpectPaths("read-only path", kReadonlyPaths, have.readonly_paths, out);
  out.ExpectNone("settings that nobody asked for", have.unasked);
}

void CompareLimits(const CreateRequest& want, const ContainerInspect& have, MismatchList& out) {
  out.Expect("memory", want.memory, have.memory);
  out.Expect("memory and swap", want.memory_swap, have.memory_swap);
  out.Expect("cpu (nanocpus)", want.nano_cpus, have.nano_cpus);
  out.Expect("pids limit", want.pids_limit, have.pids_limit);
  out.Expect("shm size", want.shm_size, have.shm_size);
  out.Expect("oom score", static_cast<int64_t>(want.oom_score_adj), static_cast<int64_t>(have.oom_score_adj));
  out.Expect("oom kill disabled", false, have.oom_kill_disabled);
  const auto limit = [&](const std::string& name) -> const Ulimit* {
    const auto it = std::find_if(have.ulimits.begin(), have.ulimits.end(), [&](const Ulimit& u) {
      return u.name == name || u.name == "RLIMIT_" + name;
    });
    return it == have.ulimits.end() ? nullptr : &*it;
  };
  const Ulimit* core = limit("core");
  if (core == nullptr || core->hard != 0) out.Add("core limit", "0", core == nullptr ? "none" : Show(core->hard));
  // Either lets a program take the processor from its neighbours.
  for (const char* name : {"nice", "rtprio"}) {
    if (const Ulimit* priority = limit(name); priority != nullptr && (priority->soft != 0 || priority->hard != 0)) {
      out.Add(std::string(name) + " limit", "0", Show(priority->hard));
    }
  }
  // Not compared for the same number: an operator that was started with another limit of its own is no drift.
  const Ulimit* files = limit("nofile");
  if (files == nullptr || files->hard <= 0 || files->hard > kMostFiles) {
    out.Add("open files limit", "at most " + Show(kMostFiles), files == nullptr ? "none" : Show(files->hard));
  }
}

std::string ShowMount(const MountPoint& mount) {
  const std::string propagation = mount.propagation.empty() ? "" : ", " + mount.propagation;
  return mount.type + " " + mount.source + " (" + (mount.read_only ? "read-only" : "writable") + propagation + ")";
}

void CompareDeclaredMounts(const CreateRequest& want, const ContainerInspect& have, MismatchList& out) {
  std::map<std::string, MountPoint> found;
  for (const MountPoint& mount : have.mounts) found[mount.target] = mount;
  for (MountPoint mount : want.mounts) {
    const auto it = found.find(mount.target);
    const std::string have_text = it == found.end() ? "none" : ShowMount(it->second);
    if (have_text != ShowMount(mount)) out.Add("mount " + mount.target, ShowMount(mount), have_text);
    if (it != found.end()) found.erase(it);
  }
  for (const auto& [target, mount] : found) {
    if (mount.type == "tmpfs" && want.tmpfs.contains(target)) continue;  // Podman lists those too
    out.Add("mount " + target, "none", ShowMount(mount));
  }
  out.ExpectNone("binds", have.binds);
  out.ExpectNone("volumes of other containers", have.volumes_from);
  out.Expect("tmpfs", want.tmpfs, have.tmpfs);
}

}  // namespace

std::vector<Mismatch> CompareInspect(const CreateRequest& want, const ContainerInspect& have,
                                     const std::map<std::string, std::string>& image_env, const Dialect& dialect) {
  MismatchList out;
  CompareIdentity(want, have, out);
  CompareEnv(want, have, image_env, out);
  CompareIsolation(want, have, dialect, out);
  CompareLimits(want, have, out);
  CompareDeclaredMounts(want, have, out);
  out.Expect("network mode", want.network_mode, have.network_mode);
  if (have.networks != Strings{want.network_mode} && !(want.network_mode == "none" && have.networks.empty())) {
    out.Add("networks", want.network_mode, Show(have.networks));
  }
  return out.Take();
}

}  // namespace beige::runtime::engine
