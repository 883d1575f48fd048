#include "cli/doctor/engine_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace beige::cli {
namespace {
using nlohmann::json;
using std::chrono::milliseconds;
constexpr size_t kMaxAnswer = 8u << 20;

// ConnectUnix does not say whether nobody listens or access is refused, and waits for a full backlog.
Result<UniqueFd> Connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return Fail(Code::kInvalid, path + ": longer than a socket's path can be");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return FailErrno(errno, "socket");
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  if (errno == EACCES || errno == EPERM) return Fail(Code::kDenied, path + ": no permission to open it");
  if (errno == EAGAIN) return Fail(Code::kTimeout, path + ": it takes no more connections");
  return Fail(Code::kUnavailable, path + ": " + std::strerror(errno));
}

// True when the descriptor is ready before the deadline.
bool Await(int fd, short events, SteadyTime deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  pollfd entry{fd, events, 0};
  return ::poll(&entry, 1, static_cast<int>(std::clamp<long long>(left, 0, 60000))) > 0;
}

Result<UnixHttpAnswer> Parse(const std::string& text, const std::string& what) {
  const size_t end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.") || text.size() < 12 || end == std::string::npos) return Fail(Code::kUnavailable, what + ": answers, but not as an engine does");
  return UnixHttpAnswer{std::atoi(text.c_str() + 9), text.substr(end + 4)};
}

std::string Text(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}
bool Flag(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_boolean() && it->get<bool>();
}

Result<json> Ask(const std::string& socket, const std::string& path, milliseconds timeout) {
  BEIGE_ASSIGN(const UnixHttpAnswer answer, GetOverUnix(socket, path, timeout));
  json body = json::parse(answer.body, nullptr, false);
  if (answer.status != 200 || !body.is_object()) {
    return Fail(Code::kUnavailable, socket + ": answers " + path + " with status " + std::to_string(answer.status));
  }
  return body;
}
}  // namespace

Result<UnixHttpAnswer> GetOverUnix(const std::string& socket, const std::string& path, milliseconds timeout) {
  const SteadyTime deadline = std::chrono::steady_clock::now() + timeout;
  BEIGE_ASSIGN(const UniqueFd fd, Connect(socket));
  const std::string request = "GET " + path + " HTTP/1.0\r\nHost: engine\r\n\r\n";
  const auto too_slow = [&] { return Fail(Code::kTimeout, socket + ": did not answer within " + FormatDuration(timeout)); };
  if (!Await(fd.get(), POLLOUT, deadline)) return too_slow();
  // A request of less than a page fits into an empty buffer.
  if (::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) return FailErrno(errno, "ask " + socket);
  std::string text;
  char buffer[65536];
  for (;;) {
    if (!Await(fd.get(), POLLIN, deadline)) return too_slow();
    const ssize_t n = ::recv(fd.get(), buffer, sizeof buffer, 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return FailErrno(errno, "read from " + socket);
    if (n == 0) return Parse(text, socket);
    text.append(buffer, static_cast<size_t>(n));
    if (text.size() > kMaxAnswer) return Fail(Code::kExhausted, socket + ": answers more than " + std::to_string(kMaxAnswer) + " bytes");
  }
}

Result<EngineFacts> ProbeEngine(const std::string& socket, milliseconds timeout) {
  BEIGE_ASSIGN(const json version, Ask(socket, "/version", timeout));
  BEIGE_ASSIGN(const json info, Ask(socket, "/info", timeout));
  EngineFacts facts;
  facts.type = "docker";
  if (const auto components = version.find("Components"); components != version.end() && components->is_array()) {
    for (const auto& component : *components) {
      if (component.is_object() && Text(component, "Name") == "Podman Engine") facts.type = "podman";
    }
  }
  facts.version = Text(version, "Version");
  facts.api = Text(version, "ApiVersion");
  if (const auto options = info.find("SecurityOptions"); options != info.end() && options->is_array()) {
    for (const auto& option : *options) {
      const std::string text = option.is_string() ? option.get<std::string>() : "";
      facts.rootless = facts.rootless || text.starts_with("name=rootless");
      facts.seccomp = facts.seccomp || text.starts_with("name=seccomp");
    }
  }
  facts.cgroup = Text(info, "CgroupVersion") == "2" ? 2 : Text(info, "CgroupVersion") == "1" ? 1 : 0;
  facts.memory_limit = Flag(info, "MemoryLimit");
  facts.cpu_limit = Flag(info, "CpuCfsQuota") || Flag(info, "CPUCfsQuota");
  facts.pids_limit = Flag(info, "PidsLimit");
  facts.runtime = Text(info, "DefaultRuntime");
  return facts;
}

Result<bool> HasImage(const std::string& socket, const std::string& image, milliseconds timeout) {
  BEIGE_ASSIGN(const UnixHttpAnswer answer, GetOverUnix(socket, "/images/" + image + "/json", timeout));
  if (answer.status == 200) return true;
  if (answer.status == 404) return false;
  return Fail(Code::kUnavailable, socket + ": answers with status " + std::to_string(answer.status) + " when asked for the image");
}

}  // namespace beige::cli
