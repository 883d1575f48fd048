#include "tests/runtime/scripted_engine.h"

#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "base/unix_socket.h"

namespace beige::runtime {

ScriptedEngine::ScriptedEngine(Script script) : script_(std::move(script)) {
  auto listening = ListenUnix(socket(), 0600);
  if (!listening) throw std::runtime_error(listening.error().message);
  listener_ = std::move(*listening);
  accepting_ = std::thread([this] { Accept(); });
}

ScriptedEngine::~ScriptedEngine() {
  stopping_ = true;
  accepting_.join();
  DropConnections();
  for (std::thread& thread : serving_) thread.join();
}

void ScriptedEngine::DropConnections() {
  std::lock_guard lock(mutex_);
  for (const UniqueFd& fd : open_) ::shutdown(fd.get(), SHUT_RDWR);
}

void ScriptedEngine::Accept() {
  while (!stopping_) {
    pollfd waiting{listener_.get(), POLLIN, 0};
    if (poll(&waiting, 1, 20) <= 0) continue;
    const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    ++connections_;
    std::lock_guard lock(mutex_);
    open_.emplace_back(fd);
    serving_.emplace_back([this, fd] { Serve(fd); });
  }
}

bool ScriptedEngine::ReadRequest(int fd, std::string& buffered, SeenRequest& request) {
  size_t head = 0;
  const auto more = [&] {
    char bytes[4096];
    const ssize_t n = recv(fd, bytes, sizeof bytes, 0);
    if (n > 0) buffered.append(bytes, static_cast<size_t>(n));
    return n > 0;
  };
  while ((head = buffered.find("\r\n\r\n")) == std::string::npos) {
    if (!more()) return false;
  }
  request.head = buffered.substr(0, head);
  request.line = request.head.substr(0, request.head.find("\r\n"));
  size_t length = 0;
  if (const size_t at = request.head.find("Content-Length: "); at != std::string::npos) {
    length = std::strtoul(request.head.c_str() + at + 16, nullptr, 10);
  }
  while (buffered.size() < head + 4 + length) {
    if (!more()) return false;
  }
  request.body = buffered.substr(head + 4, length);
  buffered.erase(0, head + 4 + length);
  return true;
}

void ScriptedEngine::Serve(int fd) {
  std::string buffered;
  SeenRequest request;
  while (ReadRequest(fd, buffered, request)) {
    {
      std::lock_guard lock(mutex_);
      requests_.push_back(request);
      changed_.notify_all();
    }
    const std::string answer = script_(request);
    if (answer.empty()) break;
    if (answer != kSilence && !SendAll(fd, answer)) break;
  }
  ::shutdown(fd, SHUT_RDWR);
}

std::vector<SeenRequest> ScriptedEngine::Requests() {
  std::lock_guard lock(mutex_);
  return requests_;
}

bool ScriptedEngine::WaitForRequests(size_t count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return requests_.size() >= count; });
}

std::string ScriptedEngine::Answer(int status, const std::string& body, const std::string& headers) {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\n" + headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace beige::runtime
