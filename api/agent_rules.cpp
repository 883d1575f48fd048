#include "api/agent_rules.h"

#include <vector>

#include "api/quantity.h"
#include "base/files.h"

namespace beige {
namespace {

bool IsDnsLabel(std::string_view name, size_t most) {
  if (name.empty() || name.size() > most || name.front() == '-' || name.back() == '-') return false;
  for (const char c : name) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')) return false;
  }
  return true;
}

bool IsWithin(std::string_view path, std::string_view directory) {
  return path == directory || directory == "/" || (path.starts_with(directory) && path[directory.size()] == '/');
}

// Absolute, without `.`, `..`, `//` or a slash at the end.
bool IsNormal(const std::string& path) { return path.starts_with('/') && AbsolutePath("/", path) == path; }

void CheckEnv(const YamlNode& env, const std::string& path, Problems& problems) {
  for (size_t i = 0; i < env.items.size(); ++i) {
    const YamlNode& name = env.items[i]["name"];
    if (!name.IsString()) continue;
    if (name.text == "PATH" || name.text == "HOME" || name.text.starts_with("BEIGE_")) {
      problems.Add(name.mark, PathOf(PathOf(path, i), "name"), name.text + " is set by Beige; take another name");
    }
  }
}

void CheckMountPath(const YamlNode& node, const std::string& path, const std::vector<const YamlNode*>& others, Problems& problems) {
  if (!node.IsString() || !node.text.starts_with('/')) return;
  if (!IsNormal(node.text)) {
    problems.Want(node, path, "a path without . and .., double slashes or a slash at the end, such as " + AbsolutePath("/", node.text));
    return;
  }
  for (const std::string_view owned : {"/workspace", "/tmp", "/tools", "/skills", "/beige", "/proc", "/sys", "/dev", "/etc"}) {
    if (node.text == "/" || IsWithin(node.text, owned)) {
      problems.Want(node, path, "a path outside of /workspace, /tmp, /tools, /skills, /beige, /proc, /sys, /dev and /etc");
      return;
    }
  }
  for (const YamlNode* other : others) {
    if (IsWithin(node.text, other->text) || IsWithin(other->text, node.text)) {
      problems.Want(node, path, "a path that neither lies in another volume nor holds one (" + other->text + ", line " + std::to_string(other->mark.line) + ")");
      return;
    }
  }
}

void CheckHostPath(const YamlNode& node, const std::string& path, Problems& problems) {
  if (!node.IsString() || !node.text.starts_with('/')) return;
  if (!IsNormal(node.text)) {
    problems.Want(node, path, "a path without . and .., double slashes or a slash at the end, such as " + AbsolutePath("/", node.text));
    return;
  }
  for (const std::string_view never : {"/proc", "/sys", "/dev"}) {
    if (node.text == "/" || IsWithin(node.text, never)) {
      problems.Want(node, path, "a directory or file other than /, and outside of /proc, /sys and /dev");
      return;
    }
  }
}

void CheckVolumes(const YamlNode& volumes, const std::string& path, Problems& problems) {
  std::vector<const YamlNode*> mounted;
  for (size_t i = 0; i < volumes.items.size(); ++i) {
    const YamlNode& mount_path = volumes.items[i]["mountPath"];
    CheckMountPath(mount_path, PathOf(PathOf(path, i), "mountPath"), mounted, problems);
    if (mount_path.IsString() && IsNormal(mount_path.text)) mounted.push_back(&mount_path);
    CheckHostPath(volumes.items[i]["hostPath"]["path"], PathOf(path, i) + ".hostPath.path", problems);
  }
}

void CheckQuantity(const YamlNode& node, const std::string& path, Result<int64_t> (*parse)(std::string_view), Problems& problems) {
  if (node.kind != YamlNode::Kind::kString && node.kind != YamlNode::Kind::kInt) return;
  const std::string text = node.kind == YamlNode::Kind::kInt ? std::to_string(node.integer) : node.text;
  if (const auto value = parse(text); !value) problems.Want(node, path, value.error().message);
}

bool IsLabelName(std::string_view name) {
  const auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > 63 || !alnum(name.front()) || !alnum(name.back())) return false;
  for (const char c : name) {
    if (!alnum(c) && c != '-' && c != '_' && c != '.') return false;
  }
  return true;
}

bool IsDnsSubdomain(std::string_view name) {
  if (name.size() > 253) return false;
  for (size_t dot = 0; dot != std::string_view::npos; name.remove_prefix(dot == std::string_view::npos ? 0 : dot + 1)) {
    dot = name.find('.');
    if (!IsDnsLabel(name.substr(0, dot), 63)) return false;
  }
  return true;
}

}  // namespace

bool IsAgentName(std::string_view name) { return IsDnsLabel(name, 40); }
bool IsNamespace(std::string_view name) { return IsDnsLabel(name, 63); }

void CheckLabelKeys(const YamlNode& labels, const std::string& path, Problems& problems) {
  for (const YamlField& field : labels.fields) {
    const std::string_view key = field.key;
    const size_t slash = key.find('/');
    const bool valid = slash == std::string_view::npos ? IsLabelName(key) : IsDnsSubdomain(key.substr(0, slash)) && IsLabelName(key.substr(slash + 1));
    if (!valid) problems.Add(field.mark, PathOf(path, key), "want a label's name such as team or example.org/team");
  }
}

void CheckSpecRules(const YamlNode& spec, const std::string& path, Problems& problems) {
  const YamlNode& sandbox = spec["sandbox"];
  const std::string inner = PathOf(path, "sandbox");
  CheckEnv(sandbox["env"], PathOf(inner, "env"), problems);
  CheckVolumes(sandbox["volumes"], PathOf(inner, "volumes"), problems);
  const YamlNode& limits = sandbox["resources"]["limits"];
  CheckQuantity(limits["cpu"], inner + ".resources.limits.cpu", ParseCpu, problems);
  CheckQuantity(limits["memory"], inner + ".resources.limits.memory", ParseMemory, problems);
}

}  // namespace beige
