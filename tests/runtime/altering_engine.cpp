#include "tests/runtime/altering_engine.h"

#include <sys/socket.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/unix_socket.h"

namespace beige::runtime {

using nlohmann::json;

AlteringEngine::AlteringEngine(const std::string& socket, DockerBackend& real)
    : engine_(socket), real_(real), proxy_([this](const SeenRequest& request) { return Answer(request); }) {}

void AlteringEngine::Alter(Change change) {
  std::lock_guard lock(mutex_);
  change_ = std::move(change);
}

void AlteringEngine::LieLike(const std::string& twin) {
  std::lock_guard lock(mutex_);
  twin_ = twin;
}

std::string AlteringEngine::Forward(const std::string& line, const std::string& body) const {
  auto fd = ConnectUnix(engine_);
  if (!fd) return "";
  std::string answer = line + "\r\nHost: engine\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: " +
                       std::to_string(body.size()) + "\r\n\r\n" + body;
  if (!SendAll(fd->get(), answer)) return "";
  answer.clear();
  char bytes[16384];
  for (ssize_t n; (n = recv(fd->get(), bytes, sizeof bytes, 0)) > 0;) answer.append(bytes, static_cast<size_t>(n));
  return answer;
}

std::string AlteringEngine::Lie(const std::string& id, const std::string& twin) {
  json real = json::parse(real_.Ask("GET", "/containers/" + id + "/json"));
  const json asked = json::parse(real_.Ask("GET", "/containers/" + twin + "/json"));
  for (const char* part : {"Config", "HostConfig", "Mounts", "NetworkSettings", "Image"}) real[part] = asked[part];
  return ScriptedEngine::Answer(200, real.dump());
}

std::string AlteringEngine::Answer(const SeenRequest& request) {
  Change change;
  std::string twin;
  {
    std::lock_guard lock(mutex_);
    change = change_;
    twin = twin_;
  }
  constexpr std::string_view kInspect = "/containers/";
  const size_t at = request.line.find(kInspect);
  const size_t end = request.line.find("/json HTTP/1.1");
  if (!twin.empty() && request.line.starts_with("GET ") && at != std::string::npos && end != std::string::npos) {
    return Lie(request.line.substr(at + kInspect.size(), end - at - kInspect.size()), twin);
  }
  if (change && request.line.starts_with("POST ") && request.line.find("/containers/create") != std::string::npos) {
    json body = json::parse(request.body);
    change(body);
    return Forward(request.line, body.dump());
  }
  return Forward(request.line, request.body);
}

}  // namespace beige::runtime
