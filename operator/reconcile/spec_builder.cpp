#include "operator/reconcile/spec_builder.h"

#include <algorithm>

#include "api/load.h"
#include "operator/reconcile/desired.h"
#include "operator/reconcile/plan.h"

namespace beige {
using runtime::Mount;
using runtime::MountKind;

std::string ContainerName(const std::string& home_id, const AgentRef& agent) {
  return "beige-" + home_id.substr(0, 4) + "-" + agent.uid.substr(0, 8) + "-" + agent.name;
}

std::string SourceRoot(const HomePaths& paths, MountKind kind, const std::string& source) {
  switch (kind) {
    case MountKind::kWorkspace: return paths.Workspaces();
    case MountKind::kLink: return paths.RunDir();
    case MountKind::kLaunchers:
    case MountKind::kDocs:
    case MountKind::kSkills: return paths.DataGateway();
    case MountKind::kBin:
    case MountKind::kPasswd:
    case MountKind::kGroup: return source;  // the operator's own
    case MountKind::kVolume: break;         // its source is a real path
  }
  return "";
}

runtime::SandboxSpec BuildSandboxSpec(const Identity& identity, const OperatorConfig& config, const HomePaths& paths,
                                      const SpecContext& context) {
  const Agent& agent = identity.agent;
  const SandboxFields& fields = agent.spec.sandbox;
  const std::string& uid = identity.uid();
  runtime::SandboxSpec spec;
  spec.key = {context.home_id, agent.metadata.namespace_, agent.metadata.name, uid};
  spec.name = ContainerName(context.home_id, agent.ref());
  spec.instance = context.instance;
  spec.spec_hash = ContainerSpecHash(agent.spec);
  spec.template_version = kTemplate;
  spec.image = context.image;
  spec.command = {"/beige/bin/beige-sandbox", "init"};
  spec.hostname = agent.metadata.name;
  spec.uid = SandboxUid(identity);
  spec.gid = SandboxGid(identity);
  for (const EnvVar& variable : fields.env) spec.env[variable.name] = variable.value;
  spec.env["PATH"] = "/tools/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  spec.env["HOME"] = "/workspace";
  spec.env.try_emplace("LANG", "C.UTF-8");
  spec.env["BEIGE_AGENT_NAME"] = agent.metadata.name;
  spec.env["BEIGE_INSTANCE"] = context.instance;
  spec.memory_bytes = fields.memory_bytes.value_or(config.default_memory_bytes);
  spec.cpu_millis = fields.cpu_millis.value_or(config.default_cpu_millis);
  spec.pids_limit = fields.pids_limit;
  // Counted in memory, so half of it leaves room to work; more than 512 MiB is the workspace's job.
  spec.tmp_bytes = std::min<int64_t>(spec.memory_bytes / 2, 512LL << 20);
  spec.network = agent.spec.egress_mode == EgressMode::kOpen ? runtime::Network::kOpen : runtime::Network::kNone;
  spec.mounts = {
      {MountKind::kWorkspace, paths.Workspace(agent.key()), "/workspace", false},
      {MountKind::kLink, paths.LinkDir(uid), "/beige", true},
      {MountKind::kBin, context.bin_dir, "/beige/bin", true},
      {MountKind::kLaunchers, paths.LaunchersDir(uid), "/tools/bin", true},
      {MountKind::kDocs, paths.PackagesDir(uid), "/tools/packages", true},
      {MountKind::kSkills, paths.SkillsDir(uid), "/skills", true},
      {MountKind::kPasswd, paths.EtcDir(uid) + "/passwd", "/etc/passwd", true},
      {MountKind::kGroup, paths.EtcDir(uid) + "/group", "/etc/group", true},
  };
  for (const Volume& volume : fields.volumes) {
    const auto source = context.volume_sources.find(volume.name);
    if (source == context.volume_sources.end()) continue;  // not permitted: then the agent is blocked and this spec is not used
    spec.mounts.push_back({MountKind::kVolume, source->second, volume.mount_path, volume.read_only});
  }
  for (Mount& mount : spec.mounts) mount.root = SourceRoot(paths, mount.kind, mount.source);
  return spec;
}

}  // namespace beige
