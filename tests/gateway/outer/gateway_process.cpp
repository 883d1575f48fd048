#include "tests/gateway/outer/gateway_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <sstream>
#include <thread>

#include "base/spawn.h"
#include "base/unix_socket.h"

namespace beige::gateway_test {
namespace {
constexpr std::chrono::milliseconds kLook{3};
}

bool Eventually(const std::function<bool()>& done, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

Child::Child(std::vector<std::string> argv, const std::string& stderr_file, std::vector<std::string> environment) {
  const UniqueFd log(::open(stderr_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  SpawnRequest request;
  request.argv = std::move(argv);
  request.environment = std::move(environment);
  request.fds = {{log.get(), 1}, {log.get(), 2}};
  if (const auto pid = beige::Spawn(request)) pid_ = *pid;
}

Child::~Child() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Child::Signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

std::optional<int> Child::Wait(std::chrono::milliseconds limit) {
  if (pid_ <= 0) return std::nullopt;
  const auto fd = OpenPidFd(pid_);
  if (!fd) return std::nullopt;
  pollfd p{fd->get(), POLLIN, 0};
  if (::poll(&p, 1, static_cast<int>(limit.count())) <= 0) return std::nullopt;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

Operator::Operator(const std::string& socket) {
  if (auto fd = ConnectUnix(socket)) fd_ = std::move(*fd);
  Send(admin::Hello{1, 1, {}, "test"});
}

void Operator::Send(const admin::ToGateway& message) { (void)SendAll(fd_.get(), admin::Encode(message) + "\n"); }

std::optional<admin::ToOperator> Operator::Next() {
  for (;;) {
    if (const size_t end = in_.find('\n'); end != std::string::npos) {
      auto message = admin::DecodeToOperator(std::string_view(in_).substr(0, end));
      in_.erase(0, end + 1);
      if (message) return std::move(*message);
      continue;
    }
    pollfd p{fd_.get(), POLLIN, 0};
    char chunk[65536];
    if (::poll(&p, 1, 20000) <= 0) return std::nullopt;
    const ssize_t n = ::recv(fd_.get(), chunk, sizeof chunk, 0);
    if (n <= 0) return std::nullopt;
    in_.append(chunk, static_cast<size_t>(n));
  }
}

GatewayProcess::GatewayProcess() { WriteConfig(""); }

void GatewayProcess::WriteConfig(const std::string& rest) {
  home_.Write("gateway.yaml", "apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\nhttp: {listen: 127.0.0.1:0}\nmetrics: {listen: 127.0.0.1:0}\n" + rest);
}

void GatewayProcess::AddTool(const std::string& name, const std::string& script) {
  home_.Write("tools/" + name + "/run.sh", script, 0755);
  home_.Write("tools/" + name + "/tool.yaml", "name: " + name + "\ndescription: A tool\nusage: [\"" + name + " ARG\"]\ncommand: [./run.sh]\n");
}

void GatewayProcess::Spawn() {
  process_ = std::make_unique<Child>(std::vector<std::string>{BEIGE_BIN_DIR "/beige-gateway", "--home", home_.path()}, home_.path() + "/gateway.log", CurrentEnvironment());
}

bool GatewayProcess::Start() {
  Spawn();
  return Eventually([&] {
    const auto text = ReadFileIfExists(paths().GatewayInfo());
    if (!text || !*text) return false;
    const auto info = nlohmann::json::parse(**text, nullptr, false);
    return info.is_object() && info.value("pid", 0) == process_->pid();
  });
}

std::optional<int> GatewayProcess::Stop() {
  process_->Signal(SIGTERM);
  return process_->Wait();
}

void GatewayProcess::Kill() {
  process_->Signal(SIGKILL);
  process_->Wait();
}

std::string GatewayProcess::Log() const { return ReadFile(home_.path() + "/gateway.log").value_or(""); }

std::vector<std::string> GatewayProcess::AuditLines() const {
  std::istringstream text(ReadFile(paths().AuditLog(), 256u << 20).value_or(""));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

int GatewayProcess::Port(const char* which) const {
  return nlohmann::json::parse(ReadFile(paths().GatewayInfo()).value_or("{}"), nullptr, false).value(which, 0);
}

std::unique_ptr<Operator> GatewayProcess::ConnectOperator() { return std::make_unique<Operator>(paths().AdminSocket()); }

admin::Grant GatewayProcess::GrantOf(const std::string& agent, std::vector<std::string> tools) {
  admin::Grant grant;
  grant.agent = {"default", agent, "uid-of-" + agent};
  grant.generation = 1;
  grant.tools = std::move(tools);
  return grant;
}

bool GatewayProcess::StartSandbox(Operator& op, const admin::Grant& grant) {
  const HomePaths p = paths();
  const std::string& uid = grant.agent.uid;
  const std::string workspace = home_.path() + "/workspace-" + grant.agent.name;
  const std::string bin = home_.path() + "/sandbox-bin";
  (void)MakeDirs(workspace, 0777);
  (void)MakeDirs(bin, 0755);
  if (!Exists(bin + "/beige-sandbox")) (void)WriteFileAtomic(bin + "/beige-sandbox", ReadFile(BEIGE_BIN_DIR "/beige-sandbox").value_or(""), 0755);
  const std::string instance = "instance-of-" + grant.agent.name;
  op.Send(admin::Announce{uid, instance});
  sandboxes_.push_back(std::make_unique<Child>(
      std::vector<std::string>{"bwrap", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
                               "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", workspace, "/workspace",
                               // As an engine mounts it: the link's directory, never its sockets, and the programs over the directory kept for them.
                               "--ro-bind", p.LinkDir(uid), "/beige", "--ro-bind", bin, "/beige/bin",
                               "--ro-bind", p.LaunchersDir(uid), "/tools/bin", "--ro-bind", p.PackagesDir(uid), "/tools/packages", "--unshare-pid", "--unshare-net",
                               "--unshare-ipc", "--as-pid-1", "--die-with-parent", "--chdir", "/workspace", "/beige/bin/beige-sandbox", "init"},
      home_.path() + "/sandbox.log", std::vector<std::string>{"PATH=/tools/bin:/usr/bin:/bin", "HOME=/workspace", "BEIGE_INSTANCE=" + instance}));
  const auto registered = op.Await<admin::Registered>();
  return registered && registered->uid == uid && registered->instance == instance;
}

std::string GatewayProcess::Token() const {
  std::string token = ReadFile(paths().ApiToken()).value_or("");
  while (token.ends_with('\n')) token.pop_back();
  return token;
}

http_test::RawClient::Answer GatewayProcess::Get(const std::string& path) {
  http_test::RawClient client(static_cast<uint16_t>(Port("httpPort")));
  client.Send("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + Token() + "\r\n\r\n");
  return client.ReadAnswer();
}

std::string GatewayProcess::ExecRequest(const std::string& agent, const nlohmann::json& body) const {
  const std::string text = body.dump();
  return "POST /v1/namespaces/default/agents/" + agent + "/exec HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: Bearer " + Token() +
         "\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
}

nlohmann::json GatewayProcess::Exec(const std::string& agent, const nlohmann::json& body) {
  http_test::RawClient client(static_cast<uint16_t>(Port("httpPort")));
  client.Send(ExecRequest(agent, body));
  return nlohmann::json::parse(client.ReadAnswer(std::chrono::seconds(30)).body, nullptr, false);
}

}  // namespace beige::gateway_test
