#ifndef BEIGE_TESTS_CLI_ENGINE_DOUBLE_H_
#define BEIGE_TESTS_CLI_ENGINE_DOUBLE_H_

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "base/unix_socket.h"

namespace beige::testing {

// A real socket that answers /version, /info and anything about images as an engine would; one request a connection.
class EngineDouble {
 public:
  explicit EngineDouble(const std::string& path, std::string info = kGoodInfo, std::string version = kDocker)
      : listener_(std::move(ListenUnix(path, 0666).value())), info_(std::move(info)), version_(std::move(version)) {
    ::fcntl(listener_.get(), F_SETFL, ::fcntl(listener_.get(), F_GETFL) & ~O_NONBLOCK);
    thread_ = std::thread([this] { Serve(); });
  }
  ~EngineDouble() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }

  static constexpr const char* kDocker = R"({"Version":"9.9","ApiVersion":"1.99"})";
  static constexpr const char* kPodman = R"({"Version":"9.9","ApiVersion":"1.99","Components":[{"Name":"Podman Engine"}]})";
  static constexpr const char* kGoodInfo =
      R"({"SecurityOptions":["name=seccomp,profile=default"],"CgroupVersion":"2","MemoryLimit":true,"CpuCfsQuota":true,"PidsLimit":true,"DefaultRuntime":"runc"})";

 private:
  void Serve() {
    for (;;) {
      const UniqueFd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!peer) return;
      char buffer[1024];
      const ssize_t n = ::read(peer.get(), buffer, sizeof buffer);
      const bool version = n > 0 && std::string(buffer, static_cast<size_t>(n)).starts_with("GET /version ");
      static_cast<void>(SendAll(peer.get(), "HTTP/1.0 200 OK\r\n\r\n" + (version ? version_ : info_)));
    }
  }
  UniqueFd listener_;
  const std::string info_;
  const std::string version_;
  std::thread thread_;
};

}  // namespace beige::testing

#endif
