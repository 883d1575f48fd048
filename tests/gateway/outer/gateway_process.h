#ifndef BEIGE_TESTS_GATEWAY_OUTER_GATEWAY_PROCESS_H_
#define BEIGE_TESTS_GATEWAY_OUTER_GATEWAY_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "api/admin.h"
#include "base/unique_fd.h"
#include "tests/gateway/outer/temp_home.h"
#include "tests/http/raw_client.h"

namespace beige::gateway_test {

bool Eventually(const std::function<bool()>& done, std::chrono::milliseconds limit = std::chrono::seconds(20));

// A child that is killed with its object.
class Child {
 public:
  Child(std::vector<std::string> argv, const std::string& stderr_file, std::vector<std::string> environment);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t pid() const { return pid_; }
  void Signal(int number) const;
  std::optional<int> Wait(std::chrono::milliseconds limit = std::chrono::seconds(20));  // wait status

 private:
  pid_t pid_ = -1;
};

// The operator's side of admin.sock.
class Operator {
 public:
  explicit Operator(const std::string& socket);
  void Send(const admin::ToGateway& message);
  // The next message of this type; others are skipped. nullopt at the end or after 20 s.
  template <typename T>
  std::optional<T> Await() {
    while (auto message = Next()) {
      if (auto* wanted = std::get_if<T>(&*message)) return std::move(*wanted);
    }
    return std::nullopt;
  }

 private:
  std::optional<admin::ToOperator> Next();
  UniqueFd fd_;
  std::string in_;
};

// The shipped gateway on a home of its own (ports 0), and sandboxes that bubblewrap makes: real PID 1, real namespaces, no engine.
class GatewayProcess {
 public:
  GatewayProcess();
  const TempHome& home() const { return home_; }
  HomePaths paths() const { return home_.paths(); }

  void WriteConfig(const std::string& rest);
  void AddTool(const std::string& name, const std::string& script);  // files only; WriteConfig names it

  void Spawn();  // does not wait
  bool Start();  // until gateway.json names this process
  std::optional<int> Stop();
  void Kill();
  Child& process() { return *process_; }
  std::string Log() const;
  std::vector<std::string> AuditLines() const;
  int Port(const char* which) const;  // httpPort, metricsPort

  std::unique_ptr<Operator> ConnectOperator();
  static admin::Grant GrantOf(const std::string& agent, std::vector<std::string> tools);
  // Announces and starts a sandbox; true when its PID 1 has registered.
  bool StartSandbox(Operator& op, const admin::Grant& grant);

  http_test::RawClient::Answer Get(const std::string& path);
  std::string ExecRequest(const std::string& agent, const nlohmann::json& body) const;  // bytes to send
  nlohmann::json Exec(const std::string& agent, const nlohmann::json& body);
  std::string Token() const;

 private:
  TempHome home_;
  std::unique_ptr<Child> process_;
  std::vector<std::unique_ptr<Child>> sandboxes_;
};

}  // namespace beige::gateway_test

#endif
