#include "runtime/engine/discovery.h"

#include <sys/stat.h>

#include <cstdlib>

#include "base/unix_socket.h"

namespace beige::runtime::engine {

namespace {

bool IsSocket(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<std::string> PathOf(const std::string& from, const std::string& value) {
  constexpr std::string_view kScheme = "unix://";
  const std::string path = value.starts_with(kScheme) ? value.substr(kScheme.size()) : value;
  if (!path.starts_with('/')) {
    return Fail(Code::kInvalid, from + ": want the path of a Unix socket or unix:///path, got \"" + value + "\"");
  }
  if (auto fits = CheckSocketPath(path); !fits) return FailIn(from, fits.error());
  return path;
}

}  // namespace

Result<std::string> FindEngineSocket(const EngineHints& hints) {
  if (!hints.configured.empty()) return PathOf("engine.socket", hints.configured);
  if (!hints.docker_host.empty()) return PathOf("DOCKER_HOST", hints.docker_host);
  if (IsSocket(hints.system_socket)) return hints.system_socket;
  const std::string rootless = hints.runtime_dir.empty() ? "" : hints.runtime_dir + "/docker.sock";
  if (!rootless.empty() && IsSocket(rootless)) return rootless;
  return Fail(Code::kUnavailable, "no Docker socket found at " + hints.system_socket + (rootless.empty() ? "" : " or " + rootless) +
                                      "; start Docker, or set engine.socket or DOCKER_HOST=unix:///path/to/docker.sock");
}

Result<std::string> FindEngineSocket(const std::string& configured) {
  EngineHints hints;
  hints.configured = configured;
  hints.docker_host = Variable("DOCKER_HOST");
  hints.runtime_dir = Variable("XDG_RUNTIME_DIR");
  return FindEngineSocket(hints);
}

}  // namespace beige::runtime::engine
