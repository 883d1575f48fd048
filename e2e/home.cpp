#include "e2e/home.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/files.h"
#include "base/spawn.h"
#include "base/unix_socket.h"

namespace beige::e2e {
namespace {
std::string Bin(const std::string& name) { return std::string(BEIGE_BIN_DIR) + "/" + name; }

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};
Pipe MakePipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) std::abort();
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}
}  // namespace

Outcome RunProgram(const std::vector<std::string>& argv, std::string_view input, milliseconds limit,
                   const std::vector<std::string>& extra_env) {
  Pipe in = MakePipe();
  Pipe out = MakePipe();
  Pipe err = MakePipe();
  std::vector<std::string> environment = extra_env;
  for (auto& entry : CurrentEnvironment()) environment.push_back(entry);
  auto pid = Spawn({argv, environment, {{in.read.get(), 0}, {out.write.get(), 1}, {err.write.get(), 2}}, false});
  Outcome outcome;
  if (!pid) {
    outcome.err = pid.error().message;
    return outcome;
  }
  in.read.Reset();
  out.write.Reset();
  err.write.Reset();
  ::fcntl(in.write.get(), F_SETFL, O_NONBLOCK);
  const auto deadline = std::chrono::steady_clock::now() + limit;
  char chunk[65536];
  while (out.read || err.read) {
    if (input.empty()) in.write.Reset();
    pollfd fds[3] = {{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}, {in.write ? in.write.get() : -1, POLLOUT, 0}};
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      ::kill(*pid, SIGKILL);
      outcome.err += "\n[killed by the test after its limit]";
      break;
    }
    ::poll(fds, 3, static_cast<int>(left));
    if (fds[2].revents != 0) {
      const ssize_t n = ::write(in.write.get(), input.data(), input.size());
      if (n > 0) input.remove_prefix(static_cast<size_t>(n));
      if (n < 0 && errno != EAGAIN) input = {};
    }
    for (int i = 0; i < 2; ++i) {
      if (fds[i].revents == 0) continue;
      UniqueFd& fd = i == 0 ? out.read : err.read;
      const ssize_t n = ::read(fd.get(), chunk, sizeof chunk);
      if (n <= 0) {
        fd.Reset();
      } else {
        (i == 0 ? outcome.out : outcome.err).append(chunk, static_cast<size_t>(n));
      }
    }
  }
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

bool Eventually(const std::function<bool()>& done, milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return true;
}

std::string EngineSocket() {
  const char* socket = std::getenv("BEIGE_TEST_ENGINE_SOCKET");
  EXPECT_NE(socket, nullptr) << "BEIGE_TEST_ENGINE_SOCKET is not set: start an engine with scripts/engine.sh up and name its socket";
  return socket == nullptr ? "" : socket;
}

nlohmann::json Engine(const std::string& method, const std::string& path) {
  const Outcome r = RunProgram({"curl", "-sS", "-X", method, "--unix-socket", EngineSocket(), "http://engine" + path});
  if (r.out.empty()) return nullptr;
  return nlohmann::json::parse(r.out, nullptr, false);
}

Home::Home() {
  char name[] = "/tmp/bge2e-XXXXXX";
  if (::mkdtemp(name) == nullptr) std::abort();
  path_ = name;
}

Home::~Home() {
  const auto* suite = ::testing::UnitTest::GetInstance()->current_test_suite();
  if (::testing::Test::HasFailure() || (suite != nullptr && suite->failed_test_count() > 0)) {
    for (const char* log : {"logs/beige-gateway.log", "logs/beige-operator.log", "logs/audit.jsonl"}) {
      const std::string text = ReadText(log);
      GTEST_LOG_(INFO) << log << ":\n" << text.substr(text.size() > 6000 ? text.size() - 6000 : 0);
    }
  }
  Down();
  if (auto removed = RemoveTree(path_); !removed) GTEST_LOG_(ERROR) << removed.error().message;
}

void Home::Configure(const std::string& gateway_extra, const std::string& operator_extra) {
  WriteFile("gateway.yaml",
            "apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\nhttp: {listen: \"127.0.0.1:0\"}\nmetrics: {listen: \"127.0.0.1:0\"}\n" +
                gateway_extra);
  WriteFile("operator.yaml",
            "apiVersion: beige.dev/v1alpha1\nkind: OperatorConfig\nengine: {type: docker, socket: " + EngineSocket() +
                "}\nmetrics: {listen: \"127.0.0.1:0\"}\n" +
                (operator_extra.find("defaults:") == std::string::npos
                     ? "defaults: {image: \"localhost/busybox:test\", resources: {cpu: \"1\", memory: 256Mi}}\n"
                     : "") +
                operator_extra);
}

void Home::WriteFile(const std::string& relative, const std::string& content, unsigned mode) {
  const std::string path = path_ + "/" + relative;
  ASSERT_TRUE(MakeDirs(path.substr(0, path.rfind('/')), 0700));
  const auto written = WriteFileAtomic(path, content, static_cast<mode_t>(mode));
  ASSERT_TRUE(written) << written.error().message;
}

std::string Home::ReadText(const std::string& relative) const {
  return beige::ReadFile(path_ + "/" + relative, 256u << 20).value_or("");
}

void Home::AddShellTool(const std::string& name, const std::string& script, const std::string& manifest_extra) {
  ASSERT_TRUE(MakeDirs(path_ + "/tools/" + name, 0755));  // a tool that works in a workspace has the agent's uid
  WriteFile("tools/" + name + "/tool.yaml",
            "name: " + name + "\ndescription: Tool " + name + " of the tests\nusage: [\"" + name + " ARGS...\"]\ncommand: [./run.sh]\n" + manifest_extra);
  WriteFile("tools/" + name + "/run.sh", "#!/bin/sh\n" + script + "\n", 0755);
}

void Home::AddAgent(const std::string& name, const std::string& spec_yaml) {
  std::string indented;
  std::istringstream lines(spec_yaml);
  for (std::string line; std::getline(lines, line);) indented += "  " + line + "\n";
  WriteFile("agents.d/" + name + ".yaml",
            "apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: " + name + "}\nspec:\n  description: Agent of the tests\n" + indented);
}

void Home::Up() {
  const Outcome up = Beige({"up", "--detach"});
  ASSERT_EQ(up.status, 0) << up.out << up.err;
}

void Home::Down() {
  const Outcome down = Beige({"down", "--delete-sandboxes"}, "", seconds(60));
  EXPECT_EQ(down.status, 0) << down.out << down.err;
}

Outcome Home::Beige(std::vector<std::string> args, std::string_view input, milliseconds limit) const {
  args.insert(args.begin(), {Bin("beige"), "--home", path_});
  return RunProgram(args, input, limit);
}

Outcome Home::Exec(const std::string& agent, std::vector<std::string> command, std::string_view input) const {
  command.insert(command.begin(), {"exec", agent, "--"});
  if (!input.empty()) command.insert(command.begin() + 1, "-i");
  return Beige(command, input);
}

Outcome Home::Sh(const std::string& agent, const std::string& script, std::string_view input) const {
  return Exec(agent, {"sh", "-c", script}, input);
}

void Home::WaitReady(const std::string& agent) const {
  const Outcome wait = Beige({"wait", "agent", agent, "--for=condition=Ready", "--timeout=60s"}, "", seconds(70));
  ASSERT_EQ(wait.status, 0) << wait.out << wait.err << "\n" << Beige({"describe", "agent", agent}).out;
}

nlohmann::json Home::GetAgent(const std::string& name) const {
  const Outcome got = Beige({"get", "agents", name, "-o", "json"});
  if (got.status != 0) return nullptr;
  return nlohmann::json::parse(got.out, nullptr, false);
}

namespace {
std::string ConditionField(const nlohmann::json& agent, const std::string& type, const char* field) {
  if (!agent.is_object() || !agent.contains("status")) return "";
  for (const auto& condition : agent["status"].value("conditions", nlohmann::json::array())) {
    if (condition.value("type", "") == type) return condition.value(field, "");
  }
  return "";
}
}  // namespace

std::string Home::ConditionReason(const std::string& agent, const std::string& type) const {
  return ConditionField(GetAgent(agent), type, "reason");
}
std::string Home::ConditionStatus(const std::string& agent, const std::string& type) const {
  return ConditionField(GetAgent(agent), type, "status");
}
std::string Home::ContainerId(const std::string& agent) const {
  const auto got = GetAgent(agent);
  return got.is_object() ? got.value("/status/sandbox/id"_json_pointer, std::string()) : "";
}
std::string Home::Socket(const std::string& agent) const {
  const auto got = GetAgent(agent);
  return got.is_object() ? got.value("/local/socket"_json_pointer, std::string()) : "";
}

nlohmann::json Home::CallV1(const std::string& agent, const nlohmann::json& request) const {
  auto fd = ConnectUnix(Socket(agent));
  EXPECT_TRUE(fd) << fd.error().message;
  if (!fd) return nullptr;
  const timeval limit{20, 0};
  ::setsockopt(fd->get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  EXPECT_TRUE(SendAll(fd->get(), request.dump() + "\n"));
  std::string line;
  char chunk[65536];
  while (line.find('\n') == std::string::npos) {
    const ssize_t n = ::read(fd->get(), chunk, sizeof chunk);
    if (n <= 0) break;
    line.append(chunk, static_cast<size_t>(n));
  }
  return nlohmann::json::parse(line, nullptr, false);
}

std::vector<nlohmann::json> Home::Audit() const {
  std::vector<nlohmann::json> records;
  std::istringstream lines(ReadText("logs/audit.jsonl"));
  for (std::string line; std::getline(lines, line);) records.push_back(nlohmann::json::parse(line));
  return records;
}

nlohmann::json Home::Info(const std::string& relative) const {
  return nlohmann::json::parse(ReadText(relative), nullptr, false);
}

pid_t Home::Pid(const std::string& process) const {
  const auto up = Info("run/up.json");
  const std::string field = process == "supervisor" ? "pid" : process + "Pid";
  return up.is_object() ? up.value(field, 0) : 0;
}

std::string Home::HttpBase() const {
  return "http://127.0.0.1:" + std::to_string(Info("data/gateway/gateway.json").value("httpPort", 0));
}

std::string Home::Token() const {
  std::string token = ReadText("api-token");
  while (!token.empty() && token.back() == '\n') token.pop_back();
  return token;
}

Outcome Home::Curl(const std::vector<std::string>& args) const {
  std::vector<std::string> argv = {"curl", "-sS", "-m", "30", "-H", "Authorization: Bearer " + Token()};
  argv.insert(argv.end(), args.begin(), args.end());
  return RunProgram(argv);
}

}  // namespace beige::e2e
