#include "home.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "api/load.h"
#include "base/files.h"

namespace beige::testing {

std::string TemporaryDirectory() {
  std::string name = ::testing::TempDir() + "bcli-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  return name;
}

std::string StandIn(const std::string& name) { return std::string(BEIGE_STAND_INS) + "/" + name; }

Home::Home() : path_(TemporaryDirectory()) {}

Home::~Home() { static_cast<void>(RemoveTree(path_)); }

void Home::Write(const std::string& relative, std::string_view content, unsigned mode) const {
  const std::string file = path_ + "/" + relative;
  ASSERT_TRUE(MakeDirs(file.substr(0, file.rfind('/')), 0700));
  const auto written = WriteFileAtomic(file, content, static_cast<mode_t>(mode));
  ASSERT_TRUE(written) << written.error().message;
}

std::string Home::Read(const std::string& relative) const { return ReadFile(path_ + "/" + relative).value_or(""); }

bool Home::Has(const std::string& relative) const { return Exists(path_ + "/" + relative); }

std::vector<std::string> Home::Command(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {BeigeProgram(), "--home", path_});
  return arguments;
}

Outcome Home::Beige(std::vector<std::string> arguments, std::string_view input) const {
  arguments.insert(arguments.begin(), {"--home", path_});
  return RunBeige(std::move(arguments), input);
}

void Home::WriteStatus(const Agent& agent) const {
  const std::string file = paths().StatusFile(agent.key());
  Write(file.substr(path_.size() + 1), EncodeAgent(agent));
}

std::string AgentText(const std::string& name, const std::string& spec_lines) {
  return "apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: " + name + "}\nspec:\n" + spec_lines;
}

Agent ReadyAgent(const std::string& name, Truth ready, const std::string& reason) {
  const LoadedFile loaded = LoadAgents(AgentText(name), "a.yaml");
  Agent agent = loaded.agents.at(0).agent.value();
  agent.metadata.uid = "5c1f8f3e-9a59-4a32-8a53-" + std::string(12 - name.size(), '0') + name;
  agent.metadata.generation = 1;
  agent.metadata.creation_time = "2026-11-29T12:00:00.000Z";
  agent.status.observed_generation = 1;
  agent.status.grant_generation = 1;
  agent.status.sandbox = SandboxStatus{"docker", "0123456789abcdef", "beige-test-" + name, "localhost/beige-sandbox:0.1.0", "sha256:aa", 1, "2026-11-29T12:00:01.000Z", 2};
  for (const auto type : kConditionTypes) {
    const bool is_ready = type == "Ready";
    agent.status.conditions.push_back({std::string(type), is_ready ? ready : Truth::kTrue, is_ready ? reason : "OK", is_ready ? "seen from inside" : "", "2026-11-29T12:00:02.000Z", 1});
  }
  return agent;
}

}  // namespace beige::testing
