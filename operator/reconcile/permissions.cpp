#include "operator/reconcile/permissions.h"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace beige {
namespace fs = std::filesystem;
namespace {
std::optional<std::string> Real(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return std::nullopt;
  return real.string();
}

// `inner` is `outer` or lies beneath it. Both real, absolute paths.
bool Beneath(const std::string& inner, const std::string& outer) {
  if (outer == "/") return true;
  return inner == outer || (inner.size() > outer.size() && inner.compare(0, outer.size(), outer) == 0 && inner[outer.size()] == '/');
}

std::string WhyNot(const std::string& real, const HomePaths& paths, const std::string& engine_socket) {
  if (real == "/") return "the whole host";
  for (const char* root : {"/proc", "/sys", "/dev"}) {
    if (Beneath(real, root)) return std::string("part of ") + root;
  }
  if (const auto home = Real(paths.home()); home && (Beneath(real, *home) || Beneath(*home, real))) return "part of the home, or holds it";
  for (const std::string& socket : {engine_socket, std::string("/var/run/docker.sock"), std::string("/run/podman/podman.sock"),
                                    std::string("/run/containerd/containerd.sock"), std::string("/run/crio/crio.sock")}) {
    if (const auto at = socket.empty() ? std::nullopt : Real(socket); at && Beneath(*at, real)) return "it holds an engine's socket, " + *at;
  }
  return "";
}
}  // namespace

Permissions CheckPermissions(const AgentSpec& spec, const OperatorConfig& config, const HomePaths& paths, const std::string& engine_socket) {
  Permissions result;
  const std::string& image = spec.sandbox.image;
  if (!image.empty() && !config.allowed_image_prefixes.empty() &&
      std::none_of(config.allowed_image_prefixes.begin(), config.allowed_image_prefixes.end(),
                   [&](const std::string& prefix) { return image.starts_with(prefix); })) {
    result.refused.push_back("spec.sandbox.image: " + image + " begins with none of the prefixes that operator.yaml allows");
  }
  for (const Volume& volume : spec.sandbox.volumes) {
    const std::string where = "spec.sandbox.volumes[" + volume.name + "].hostPath.path: " + volume.host_path;
    const auto real = Real(volume.host_path);
    if (!real) {
      result.refused.push_back(where + " does not exist or can't be reached");
      continue;
    }
    const bool allowed = std::any_of(config.allowed_volume_roots.begin(), config.allowed_volume_roots.end(), [&](const std::string& root) {
      const auto real_root = Real(root);
      return real_root && Beneath(*real, *real_root);
    });
    if (!allowed) {
      result.refused.push_back(where + (*real == volume.host_path ? "" : " (really " + *real + ")") +
                               " is beneath no root that operator.yaml allows for volumes");
    } else if (const std::string why = WhyNot(*real, paths, engine_socket); !why.empty()) {
      result.refused.push_back(where + " is never mounted: " + why);
    } else {
      result.sources[volume.name] = *real;
    }
  }
  return result;
}

}  // namespace beige
