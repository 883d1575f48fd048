#ifndef BEIGE_E2E_HOME_H_
#define BEIGE_E2E_HOME_H_

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace beige::e2e {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Outcome {
  int status = -1;  // exit status as a shell sees it
  std::string out;
  std::string err;
};

// Runs a program to its end; killed (status 255 and a note in err) when `limit` passes. `input` is its stdin, closed after.
Outcome RunProgram(const std::vector<std::string>& argv, std::string_view input = "", milliseconds limit = seconds(60),
                   const std::vector<std::string>& extra_env = {});

// Asks again every 20 ms until `done` or `limit`; true when done. For states that only another process can change.
bool Eventually(const std::function<bool()>& done, milliseconds limit = seconds(30));

std::string EngineSocket();  // BEIGE_TEST_ENGINE_SOCKET; the test fails when it is not set
nlohmann::json Engine(const std::string& method, const std::string& path);  // the engine's API through curl; null for an empty body

// A home of its own with the shipped binaries on a real engine. Removed with its sandboxes at the end.
class Home {
 public:
  Home();
  ~Home();

  const std::string& path() const { return path_; }
  // operator.yaml and gateway.yaml name the test's engine, a small image and free ports; `gateway_extra` is appended to gateway.yaml.
  void Configure(const std::string& gateway_extra = "", const std::string& operator_extra = "");
  void WriteFile(const std::string& relative, const std::string& content, unsigned mode = 0644);
  std::string ReadText(const std::string& relative) const;
  // A tool folder tools/<name>/ with tool.yaml and an executable run.sh; `manifest_extra` is appended to the manifest.
  void AddShellTool(const std::string& name, const std::string& script, const std::string& manifest_extra = "");
  void AddAgent(const std::string& name, const std::string& spec_yaml);

  void Up();    // beige up --detach
  void Down();  // beige down --delete-sandboxes
  Outcome Beige(std::vector<std::string> args, std::string_view input = "", milliseconds limit = seconds(60)) const;
  Outcome Exec(const std::string& agent, std::vector<std::string> command, std::string_view input = "") const;
  Outcome Sh(const std::string& agent, const std::string& script, std::string_view input = "") const;
  void WaitReady(const std::string& agent) const;

  nlohmann::json GetAgent(const std::string& name) const;  // beige get agents NAME -o json
  std::string ConditionReason(const std::string& agent, const std::string& type) const;
  std::string ConditionStatus(const std::string& agent, const std::string& type) const;
  std::string ContainerId(const std::string& agent) const;
  std::string Socket(const std::string& agent) const;

  // One v1 line to the agent's gateway.sock and the answer.
  nlohmann::json CallV1(const std::string& agent, const nlohmann::json& request) const;
  std::vector<nlohmann::json> Audit() const;  // every record so far
  nlohmann::json Info(const std::string& relative) const;  // a JSON file of the home, null if absent
  pid_t Pid(const std::string& process) const;              // of run/up.json: supervisor, gateway, operator
  Outcome Curl(const std::vector<std::string>& args) const;
  std::string HttpBase() const;
  std::string Token() const;

 private:
  std::string path_;
};

}  // namespace beige::e2e

#endif
