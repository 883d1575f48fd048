#ifndef BEIGE_TESTS_RUNTIME_DOCKER_BACKEND_H_
#define BEIGE_TESTS_RUNTIME_DOCKER_BACKEND_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/docker/docker_runtime.h"
#include "runtime/engine/http.h"
#include "tests/runtime/backend.h"

namespace beige::runtime {

// The engine at BEIGE_TEST_ENGINE_SOCKET with the images of scripts/test-images.sh. Its own client does what a person with the engine's
// command line would.
class DockerBackend : public Backend {
 public:
  explicit DockerBackend(const std::string& socket);
  ~DockerBackend() override;

  SandboxRuntime& runtime() override { return *runtime_; }
  void Kill(const std::string& id) override;
  void Pause(const std::string& id) override;
  void RemoveByHand(const std::string& id) override;
  void RenameByHand(const std::string& id, const std::string& name) override;
  std::string AddForeign(const std::string& name, const std::map<std::string, std::string>& labels) override;
  std::vector<std::string> Bridges(const std::string& home) override;

  engine::EngineHttp& http() { return http_; }
  // Fails the test when the engine refuses; its answer's body.
  std::string Ask(const std::string& method, const std::string& path, const std::string& body = "");
  // Creates with a body of the test's own and starts; removed with the backend.
  std::string Run(const std::string& name, const std::string& body);

 private:
  std::unique_ptr<SandboxRuntime> runtime_;
  engine::EngineHttp http_;
  std::vector<std::string> foreign_;
};

// BEIGE_TEST_ENGINE_SOCKET; "" and a failed test when it is not set or does not answer.
std::string TestEngineSocket();

std::unique_ptr<Backend> MakeDockerBackend();

}  // namespace beige::runtime

#endif
