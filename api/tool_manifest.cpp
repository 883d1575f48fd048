#include <sys/stat.h>

#include <algorithm>

#include "api/config_reader.h"
#include "api/expand.h"
#include "api/reserved_names.h"
#include "api/schemas_compiled.h"
#include "base/files.h"

namespace beige {
namespace {

void CheckName(ConfigReader& reader, const YamlNode& name, bool allow_shadow) {
  if (allow_shadow || !std::ranges::binary_search(kReservedToolNames, std::string_view(name.text))) return;
  reader.problems().Add(name.mark, "name", "\"" + name.text + "\" is the name of a utility that every sandbox has; take another, or say allowShadow: true");
}

std::vector<std::string> CommandOf(ConfigReader& reader, const YamlNode& list) {
  std::vector<std::string> out;
  for (const YamlNode& item : list.items) out.push_back(item.text);
  if (out.empty() || !list.items[0].IsString()) return out;
  const std::string path = "command[0]";
  const YamlNode& program = list.items[0];
  if (program.text.empty()) {
    reader.problems().Want(program, path, "a program");
    return out;
  }
  if (program.text.find('/') == std::string::npos) return out;
  out[0] = AbsolutePath(reader.folder(), program.text);
  // What a cell shows: the tool's folder and the system.
  const auto within = [&](std::string_view directory) { return out[0].starts_with(std::string(directory) + "/"); };
  if (!within(reader.folder()) && !within("/usr") && !within("/bin") && !within("/sbin")) {
    reader.problems().Want(program, path, "a program in the tool's folder or beneath /usr, which is all that its cell has");
    return out;
  }
  struct stat info {};
  if (::stat(out[0].c_str(), &info) != 0) {
    reader.problems().Add(program.mark, path, "no such file: " + out[0]);
  } else if (!S_ISREG(info.st_mode)) {
    reader.problems().Add(program.mark, path, "not a regular file: " + out[0]);
  } else if ((info.st_mode & 0111) == 0) {
    reader.problems().Add(program.mark, path, "not executable: " + out[0] + "; chmod +x it");
  }
  return out;
}

// Names of variables, of env and of secrets.
bool CheckVariable(ConfigReader& reader, const YamlField& field, const std::string& path) {
  if (!IsVariableName(field.key)) {
    reader.problems().Add(field.mark, path, "want a name of letters, digits and '_' that does not start with a digit");
    return false;
  }
  if (field.key.starts_with("BEIGE_") || field.key == "PATH" || field.key == "HOME") {
    reader.problems().Add(field.mark, path, field.key + " is set by Beige; take another name");
    return false;
  }
  return true;
}

std::map<std::string, std::string> EnvOf(ConfigReader& reader, const YamlNode& map) {
  std::map<std::string, std::string> out;
  for (const YamlField& field : map.fields) {
    const std::string path = PathOf("env", field.key);
    if (!CheckVariable(reader, field, path) || !field.value.IsString()) continue;
    // Only looked at here; the cell fills it in.
    const auto known = Expand(field.value.text, [](const std::string& name) -> std::optional<std::string> {
      if (name == "BEIGE_TOOL_DATA" || name == "BEIGE_AGENT") return "";
      return std::nullopt;
    });
    if (!known && known.error().code == Code::kNotFound) {
      reader.problems().Add(field.value.mark, path, "${" + known.error().message + "} is not filled in here, only ${BEIGE_TOOL_DATA} and ${BEIGE_AGENT}; what comes from the gateway's environment goes under secrets");
    } else if (!known) {
      reader.problems().Want(field.value, path, known.error().message);
    }
    out[field.key] = field.value.text;
  }
  return out;
}

// git, npm, make and their like run what an agent writes into its workspace, with whatever the tool holds.
void CheckTogether(ConfigReader& reader, const YamlNode& root) {
  if (root["workspace"].text != "rw" || root["acceptsUntrustedFiles"].boolean) return;
  std::string beside;
  if (!root["secrets"].fields.empty()) beside = "secrets." + root["secrets"].fields.front().key;
  if (root["network"].text == "host") beside += std::string(beside.empty() ? "" : " and ") + "network: host";
  if (beside.empty()) return;
  reader.problems().Add(root["workspace"].mark, "workspace", "rw together with " + beside + " lets files that the agent writes steer a tool that holds more than the agent; if the tool can stand that, say acceptsUntrustedFiles: true, else take workspace: ro or none");
}

}  // namespace

Loaded<ToolManifest> LoadToolManifest(std::string_view text, const std::string& file, const EnvLookup& env) {
  ConfigReader reader(text, file, "", ToolManifestSchema(), env);
  if (!reader.readable()) return {std::nullopt, reader.problems().Take()};
  const YamlNode& root = reader.root();
  ToolManifest tool;
  tool.name = root["name"].text;
  tool.allow_shadow = root["allowShadow"].boolean;
  CheckName(reader, root["name"], tool.allow_shadow);
  tool.description = root["description"].text;
  for (const YamlNode& item : root["usage"].items) tool.usage.push_back(item.text);
  tool.command = CommandOf(reader, root["command"]);
  tool.stdin_open = root["stdin"].boolean;
  tool.timeout = reader.Duration(root["timeout"], "timeout", std::chrono::milliseconds(100), std::chrono::hours(24));
  tool.network = root["network"].text == "host" ? ToolNetwork::kHost : ToolNetwork::kNone;
  const std::string& workspace = root["workspace"].text;
  tool.workspace = workspace == "rw" ? ToolWorkspace::kReadWrite : workspace == "ro" ? ToolWorkspace::kReadOnly : ToolWorkspace::kNone;
  tool.accepts_untrusted_files = root["acceptsUntrustedFiles"].boolean;
  CheckTogether(reader, root);
  tool.env = EnvOf(reader, root["env"]);
  for (const YamlField& field : root["secrets"].fields) {
    const std::string path = PathOf("secrets", field.key);
    if (!CheckVariable(reader, field, path)) continue;
    if (root["env"].Find(field.key) != nullptr) reader.problems().Add(field.mark, path, "stands under env too");
    tool.secrets[field.key] = reader.SecretAt(field.value, path);
    if (const YamlNode& from = field.value["file"]; from.IsString()) tool.files.push_back(reader.Path(from, path + ".file"));
  }
  tool.folder = reader.folder();
  if (!reader.problems().empty()) return {std::nullopt, reader.problems().Take()};
  return {std::move(tool), {}};
}

}  // namespace beige
