#include "tests/gateway/llm/upstream.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "base/spawn.h"

namespace beige::llm {

Upstream::Upstream(std::vector<std::string> arguments) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  UniqueFd child_in(in[0]), child_out(out[1]), from(out[0]);
  stdin_ = UniqueFd(in[1]);
  SpawnRequest request;
  request.argv = {"python3", BEIGE_LLM_UPSTREAM};
  request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
  request.environment = CurrentEnvironment();
  request.fds = {{child_in.get(), 0}, {child_out.get(), 1}, {2, 2}};
  const auto pid = Spawn(request);
  if (!pid) throw std::runtime_error(pid.error().message);
  pid_ = *pid;
  child_out.Reset();
  std::string line;
  for (char c = 0; ::read(from.get(), &c, 1) == 1 && c != '\n';) line += c;
  port_ = nlohmann::json::parse(line)["port"].get<int>();
}

Upstream::~Upstream() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::string Upstream::Get(const std::string& path) const {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) throw std::runtime_error("connect");
  const std::string request = "GET " + path + " HTTP/1.1\r\nhost: x\r\n\r\n";
  if (::write(fd.get(), request.data(), request.size()) < 0) throw std::runtime_error("write");
  ::shutdown(fd.get(), SHUT_WR);
  std::string answer;
  char buffer[65536];
  for (ssize_t n; (n = ::read(fd.get(), buffer, sizeof buffer)) > 0;) answer.append(buffer, static_cast<size_t>(n));
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

nlohmann::json Upstream::Stats() const { return nlohmann::json::parse(Get("/stats")); }
void Upstream::Reset() const { Get("/reset"); }

TestCertificates MakeCertificates(const std::string& directory) {
  const std::string at = directory + "/";
  std::ofstream(at + "san") << "subjectAltName=IP:127.0.0.1\n";
  const std::string quiet = " >" + at + "log 2>&1";
  const std::string commands =
      "cd " + directory + " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=ca" + quiet +
      " && openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out request.pem -subj /CN=server" + quiet +
      " && openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem -days 2 -extfile san" + quiet;
  if (std::system(commands.c_str()) != 0) throw std::runtime_error("openssl: see " + at + "log");
  return {at + "ca.pem", at + "cert.pem", at + "key.pem"};
}

}  // namespace beige::llm
