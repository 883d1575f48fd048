#ifndef BEIGE_TESTS_RUNTIME_ALTERING_ENGINE_H_
#define BEIGE_TESTS_RUNTIME_ALTERING_ENGINE_H_

#include <functional>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tests/runtime/docker_backend.h"
#include "tests/runtime/scripted_engine.h"

namespace beige::runtime {

// A proxy in front of the real engine that does something else than it is asked: it changes the body of each create request, and on
// demand tells in each inspect that all is as it was asked for.
class AlteringEngine {
 public:
  using Change = std::function<void(nlohmann::json& body)>;

  AlteringEngine(const std::string& socket, DockerBackend& real);

  std::string socket() const { return proxy_.socket(); }
  void Alter(Change change);
  // `twin` was made as asked: its settings are told as everybody's. "" = the truth again.
  void LieLike(const std::string& twin);

 private:
  std::string Answer(const SeenRequest& request);
  std::string Forward(const std::string& line, const std::string& body) const;
  std::string Lie(const std::string& id, const std::string& twin);

  const std::string engine_;
  DockerBackend& real_;
  std::mutex mutex_;  // guards what stands below
  Change change_;
  std::string twin_;
  ScriptedEngine proxy_;  // last: its threads use what stands above
};

}  // namespace beige::runtime

#endif
