#include "operator/reconcile/sandbox_record.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "operator/reconcile/spec_builder.h"

namespace beige {
using nlohmann::json;
using runtime::SandboxSpec;
namespace {
std::string Directory(const HomePaths& paths) { return paths.DataOperator() + "/sandboxes"; }
std::string FileOf(const HomePaths& paths, const std::string& uid) { return Directory(paths) + "/" + HomePaths::Id(uid) + ".json"; }
}  // namespace

Result<> WriteSandboxRecord(const HomePaths& paths, const SandboxSpec& s) {
  json mounts = json::array();
  for (const runtime::Mount& m : s.mounts) {
    mounts.push_back({{"kind", static_cast<int>(m.kind)}, {"source", m.source}, {"target", m.target}, {"readOnly", m.read_only}});
  }
  const json record = {
      {"home", s.key.home}, {"namespace", s.key.namespace_}, {"agent", s.key.agent}, {"uid", s.key.uid}, {"name", s.name},
      {"instance", s.instance}, {"specHash", s.spec_hash}, {"template", s.template_version}, {"image", s.image}, {"command", s.command},
      {"workingDir", s.working_dir}, {"hostname", s.hostname}, {"userId", s.uid}, {"groupId", s.gid}, {"env", s.env},
      {"memoryBytes", s.memory_bytes}, {"cpuMillis", s.cpu_millis}, {"pidsLimit", s.pids_limit}, {"tmpBytes", s.tmp_bytes},
      {"network", static_cast<int>(s.network)}, {"runtimeClass", s.runtime_class}, {"mounts", mounts}};
  BEIGE_TRY(MakeDirs(Directory(paths), 0700));
  return WriteFileAtomic(FileOf(paths, s.key.uid), record.dump(2, ' ', false, json::error_handler_t::replace) + "\n", 0600);
}

std::optional<SandboxSpec> ReadSandboxRecord(const HomePaths& paths, const std::string& uid, const std::string& instance) {
  const auto text = ReadFileIfExists(FileOf(paths, uid));
  if (!text || !*text) return std::nullopt;
  SandboxSpec s;
  try {  // the library throws for a missing key or another type; the file is then as good as absent
    const json r = json::parse(**text);
    s.key = {r.at("home"), r.at("namespace"), r.at("agent"), r.at("uid")};
    s.name = r.at("name");
    s.instance = r.at("instance");
    s.spec_hash = r.at("specHash");
    s.template_version = r.at("template");
    s.image = r.at("image");
    s.command = r.at("command").get<std::vector<std::string>>();
    s.working_dir = r.at("workingDir");
    s.hostname = r.at("hostname");
    s.uid = r.at("userId");
    s.gid = r.at("groupId");
    s.env = r.at("env").get<std::map<std::string, std::string>>();
    s.memory_bytes = r.at("memoryBytes");
    s.cpu_millis = r.at("cpuMillis");
    s.pids_limit = r.at("pidsLimit");
    s.tmp_bytes = r.at("tmpBytes");
    s.network = static_cast<runtime::Network>(r.at("network").get<int>());
    s.runtime_class = r.at("runtimeClass");
    for (const json& m : r.at("mounts")) {
      s.mounts.push_back({static_cast<runtime::MountKind>(m.at("kind").get<int>()), m.at("source"), m.at("target"), m.at("readOnly")});
      runtime::Mount& mount = s.mounts.back();
      mount.root = SourceRoot(paths, mount.kind, mount.source);
    }
  } catch (const json::exception&) {
    return std::nullopt;
  }
  if (s.instance != instance) return std::nullopt;
  return s;
}

Result<> RemoveSandboxRecord(const HomePaths& paths, const std::string& uid) { return RemoveFile(FileOf(paths, uid)); }

}  // namespace beige
