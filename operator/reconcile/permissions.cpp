#include "operator/reconcile/permissions.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "api/engine_sockets.h"
#include "base/files.h"
#include "operator/reconcile/host_places.h"

namespace beige {
namespace {
std::vector<std::string> Sockets(const std::string& configured) {
  const auto env = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  return EngineSockets(configured, env, ReadFile("/proc/net/unix", 16u << 20).value_or(""));
}
}  // namespace

namespace {
// "registry/team" allows registry/team/x and not registry/team-of-somebody-else/x.
bool BeginsWithPart(const std::string& image, const std::string& prefix) {
  if (!image.starts_with(prefix) || prefix.empty()) return false;
  const std::string_view ends = "/:@";
  return image.size() == prefix.size() || ends.find(prefix.back()) != std::string_view::npos || ends.find(image[prefix.size()]) != std::string_view::npos;
}
}  // namespace

Permissions CheckPermissions(const AgentSpec& spec, const OperatorConfig& config, const HomePaths& paths, const std::string& engine_socket) {
  Permissions result;
  const std::string& image = spec.sandbox.image;
  if (!image.empty() && !config.allowed_image_prefixes.empty() &&
      std::none_of(config.allowed_image_prefixes.begin(), config.allowed_image_prefixes.end(),
                   [&](const std::string& prefix) { return BeginsWithPart(image, prefix); })) {
    result.refused.push_back("spec.sandbox.image: " + image + " begins with none of the prefixes that operator.yaml allows");
  }
  for (const Volume& volume : spec.sandbox.volumes) {
    const std::string where = "spec.sandbox.volumes[" + volume.name + "].hostPath.path: " + volume.host_path;
    const auto real = RealPath(volume.host_path);
    if (!real) {
      result.refused.push_back(where + " does not exist or can't be reached");
      continue;
    }
    const bool allowed = std::any_of(config.allowed_volume_roots.begin(), config.allowed_volume_roots.end(), [&](const std::string& root) {
      const auto real_root = RealPath(root);
      return real_root && IsWithin(*real, *real_root);
    });
    if (!allowed) {
      result.refused.push_back(where + (*real == volume.host_path ? "" : " (really " + *real + ")") +
                               " is beneath no root that operator.yaml allows for volumes");
    } else if (const std::string why = WhyNeverMounted(*real, paths.home(), Sockets(engine_socket)); !why.empty()) {
      result.refused.push_back(where + " is never mounted: " + why);
    } else {
      result.sources[volume.name] = *real;
    }
  }
  return result;
}

}  // namespace beige
