#include "runtime/fake/fake_inspect.h"

#include "runtime/engine/verify.h"

namespace beige::runtime::fake {

engine::ContainerInspect AsCreated(const engine::CreateRequest& request, const engine::ImageInspect& image) {
  engine::ContainerInspect out;
  out.image_id = image.id;
  out.image_ref = request.image;
  out.labels = request.labels;
  out.status = "created";
  out.user = request.user;
  out.entrypoint = request.entrypoint;
  std::map<std::string, std::string> env = image.env;
  for (const auto& [name, value] : request.env) env[name] = value;
  for (const auto& [name, value] : env) out.env.push_back(name + "=" + value);
  out.volumes = image.volumes;
  out.healthcheck = {"NONE"};
  out.working_dir = request.working_dir;
  out.hostname = request.hostname;
  out.stop_signal = "SIGTERM";
  out.network_mode = request.network_mode;
  out.networks = {request.network_mode};
  out.ipc_mode = out.cgroupns_mode = "private";
  out.runtime = request.runtime.empty() ? "runc" : request.runtime;
  out.restart_policy = "no";
  out.log_type = "json-file";
  out.log_options = {{"max-size", "1m"}, {"max-file", "1"}};
  out.read_only_root = true;
  out.cap_drop = {"ALL"};
  out.security_options = {"no-new-privileges:true"};
  out.tmpfs = request.tmpfs;
  out.ulimits = request.ulimits;
  out.memory = request.memory;
  out.memory_swap = request.memory_swap;
  out.nano_cpus = request.nano_cpus;
  out.pids_limit = request.pids_limit;
  out.shm_size = request.shm_size;
  out.oom_score_adj = request.oom_score_adj;
  out.mounts = request.mounts;
  out.masked_paths.assign(engine::kMaskedPaths.begin(), engine::kMaskedPaths.end());
  out.readonly_paths.assign(engine::kReadonlyPaths.begin(), engine::kReadonlyPaths.end());
  return out;
}

}  // namespace beige::runtime::fake
