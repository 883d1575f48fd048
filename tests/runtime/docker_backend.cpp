#include "tests/runtime/docker_backend.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "runtime/engine/labels.h"
#include "runtime/engine/wire.h"
#include "tests/runtime/suite.h"

namespace beige::runtime {

using engine::Escape;

DockerBackend::DockerBackend(const std::string& socket)
    : runtime_(docker::MakeDockerRuntime({.socket = socket, .observer = nullptr})), http_({.engine = "docker", .socket = socket, .start_hint = "", .observer = nullptr}) {}

DockerBackend::~DockerBackend() {
  for (const std::string& id : foreign_) (void)http_.Request("DELETE", "/containers/" + id + "?force=true&v=true", "", std::chrono::seconds(30));
}

std::string DockerBackend::Ask(const std::string& method, const std::string& path, const std::string& body) {
  auto answer = http_.Request(method, path, body, std::chrono::seconds(60));
  if (answer) return answer->body;
  ADD_FAILURE() << method << " " << path << ": " << answer.error().message;
  return "";
}

void DockerBackend::Kill(const std::string& id) { Ask("POST", "/containers/" + id + "/kill?signal=KILL"); }
void DockerBackend::Pause(const std::string& id) { Ask("POST", "/containers/" + id + "/pause"); }
void DockerBackend::RemoveByHand(const std::string& id) { Ask("DELETE", "/containers/" + id + "?force=true&v=true"); }
void DockerBackend::RenameByHand(const std::string& id, const std::string& name) {
  Ask("POST", "/containers/" + id + "/rename?name=" + Escape(name));
}

std::string DockerBackend::Run(const std::string& name, const std::string& body) {
  const auto id = engine::DecodeId(Ask("POST", "/containers/create?name=" + Escape(name), body));
  if (!id) return "";
  foreign_.push_back(*id);
  Ask("POST", "/containers/" + *id + "/start");
  return *id;
}

std::string DockerBackend::AddForeign(const std::string& name, const std::map<std::string, std::string>& labels) {
  const nlohmann::json body{{"Image", kBusybox}, {"Cmd", {"/bin/sleep", "1000"}}, {"Labels", labels}, {"HostConfig", {{"NetworkMode", "none"}}}};
  return Run(name, body.dump());
}

std::vector<std::string> DockerBackend::Bridges(const std::string& home) {
  const std::string filter = engine::LabelFilter({{engine::kHomeLabel, home}});
  std::vector<std::string> names;
  const auto networks = engine::DecodeNetworks(Ask("GET", "/networks?filters=" + Escape(filter)));
  if (networks) {
    for (const auto& network : *networks) names.push_back(network.name);
  }
  return names;
}

std::string TestEngineSocket() {
  const char* socket = std::getenv("BEIGE_TEST_ENGINE_SOCKET");
  if (socket == nullptr || *socket == '\0') {
    ADD_FAILURE() << "BEIGE_TEST_ENGINE_SOCKET is not set: want the path of a container engine's socket; scripts/engine.sh up prints one, "
                     "scripts/test-images.sh fills it";
    return "";
  }
  return socket;
}

std::unique_ptr<Backend> MakeDockerBackend() {
  const std::string socket = TestEngineSocket();
  if (socket.empty()) return nullptr;
  auto backend = std::make_unique<DockerBackend>(socket);
  const auto info = backend->runtime().Ping();
  if (info) return backend;
  ADD_FAILURE() << info.error().message;
  return nullptr;
}

INSTANTIATE_TEST_SUITE_P(Docker, RuntimeTest, ::testing::Values(BackendKind{"docker", MakeDockerBackend}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace beige::runtime
