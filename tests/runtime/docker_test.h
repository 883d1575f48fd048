#ifndef BEIGE_TESTS_RUNTIME_DOCKER_TEST_H_
#define BEIGE_TESTS_RUNTIME_DOCKER_TEST_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "tests/runtime/docker_backend.h"
#include "tests/runtime/suite.h"

namespace beige::runtime {

// What only a real engine can show.
class DockerTest : public RuntimeTest {
 protected:
  DockerBackend& docker() { return static_cast<DockerBackend&>(*backend_); }

  // A sandbox whose program is `script`; it goes on sleeping afterwards.
  SandboxSpec Script(const std::string& script) const {
    SandboxSpec spec = Spec();
    spec.command = {"/bin/sh", "-c", script + "\nmv /workspace/facts.part /workspace/facts; exec sleep 1000"};
    return spec;
  }
  // What the script wrote into /workspace/facts.part.
  std::string Facts(const std::string& id) {
    EXPECT_TRUE(Eventually([&] { return Exists(Workspace() + "/facts") || Look(id).state == State::kExited; }));
    auto text = ReadFile(Workspace() + "/facts");
    if (!text) ADD_FAILURE() << text.error().message << "\n" << runtime().Logs(id, 50).value_or("");
    return text.value_or("");
  }
};

}  // namespace beige::runtime

#endif
