#include "tests/operator/tiny_gateway.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <variant>

#include "base/unix_socket.h"

namespace beige::testing {

TinyGateway::TinyGateway(std::string socket_path)
    : path_(std::move(socket_path)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this] { Run(); }) {}

TinyGateway::~TinyGateway() {
  stop_ = true;
  Wake();
  thread_.join();
}

void TinyGateway::Wake() {
  const uint64_t one = 1;
  EXPECT_EQ(::write(wake_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
}

void TinyGateway::Listen() {
  auto listener = ListenUnix(path_, 0600);
  ASSERT_TRUE(listener) << listener.error().message;
  std::lock_guard lock(mutex_);
  listener_ = std::move(*listener);
  Wake();
}

void TinyGateway::Hang(const std::string& kind) {
  std::lock_guard lock(mutex_);
  hang_.insert(kind);
}

void TinyGateway::Reject(const std::string& uid, const std::string& message) {
  std::lock_guard lock(mutex_);
  reject_[uid] = message;
}

void TinyGateway::UnknownTool(const std::string& tool) {
  std::lock_guard lock(mutex_);
  unknown_tools_.insert(tool);
}

void TinyGateway::SetVersion(int min, int max) {
  std::lock_guard lock(mutex_);
  min_ = min;
  max_ = max;
}

void TinyGateway::Close() {
  std::lock_guard lock(mutex_);
  listener_.Reset();
  ::unlink(path_.c_str());
  if (peer_) ::shutdown(peer_.get(), SHUT_RDWR);
  Wake();
}

void TinyGateway::DropPeer() {
  std::lock_guard lock(mutex_);
  if (peer_) ::shutdown(peer_.get(), SHUT_RDWR);
}

void TinyGateway::SayRaw(const std::string& line) {
  std::lock_guard lock(mutex_);
  if (peer_) (void)SendAll(peer_.get(), line + "\n");
}

void TinyGateway::Say(const admin::ToOperator& message) { SayRaw(admin::Encode(message)); }

std::vector<std::string> TinyGateway::Log() const {
  std::lock_guard lock(mutex_);
  return log_;
}

bool TinyGateway::Await(const std::function<bool(const std::vector<std::string>&)>& predicate) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return predicate(log_); });
}

bool TinyGateway::AwaitLine(const std::string& line) {
  return Await([&](const auto& log) { return std::find(log.begin(), log.end(), line) != log.end(); });
}

void TinyGateway::Note(const std::string& line) {
  std::lock_guard lock(mutex_);
  log_.push_back(line);
  changed_.notify_all();
}

void TinyGateway::Run() {
  std::string buffer;
  while (!stop_) {
    pollfd fds[3] = {{wake_.get(), POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}};
    {
      std::lock_guard lock(mutex_);
      fds[1].fd = listener_ ? listener_.get() : -1;
      fds[2].fd = peer_ ? peer_.get() : -1;
    }
    ::poll(fds, 3, -1);
    uint64_t count = 0;
    (void)!::read(wake_.get(), &count, sizeof count);
    if (fds[1].revents) {
      std::lock_guard lock(mutex_);
      UniqueFd accepted(listener_ ? ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC) : -1);
      if (accepted) {
        peer_ = std::move(accepted);
        buffer.clear();
      }
    }
    if (fds[2].revents) Serve(buffer);
  }
}

void TinyGateway::Serve(std::string& buffer) {
  int fd = -1;
  {
    std::lock_guard lock(mutex_);
    if (peer_) fd = peer_.get();
  }
  char chunk[65536];
  const ssize_t n = fd < 0 ? 0 : ::recv(fd, chunk, sizeof chunk, MSG_DONTWAIT);
  if (n <= 0) {
    if (n < 0 && errno == EAGAIN) return;
    std::lock_guard lock(mutex_);
    peer_.Reset();
    return;
  }
  buffer.append(chunk, static_cast<size_t>(n));
  size_t start = 0;
  for (size_t end; (end = buffer.find('\n', start)) != std::string::npos; start = end + 1) {
    const auto message = admin::DecodeToGateway(std::string_view(buffer).substr(start, end - start));
    ASSERT_TRUE(message) << message.error().message;
    Handle(*message);
  }
  buffer.erase(0, start);
}

void TinyGateway::Answer(const admin::Grant& grant, const std::string& kind) {
  on_grant(grant);
  admin::InForce in_force;
  in_force.uid = grant.agent.uid;
  in_force.generation = grant.generation;
  std::string why;
  {
    std::lock_guard lock(mutex_);
    if (hang_.contains(kind)) return;
    for (const std::string& tool : grant.tools) {
      (unknown_tools_.contains(tool) ? in_force.unknown_tools : in_force.tools).push_back(tool);
    }
    if (const auto it = reject_.find(grant.agent.uid); it != reject_.end() && kind == "put") why = it->second;
  }
  if (why.empty()) {
    Say(in_force);
  } else {
    Say(admin::Rejected{grant.agent.uid, grant.generation, why});
  }
}

void TinyGateway::Handle(const admin::ToGateway& message) {
  const auto hangs = [&](const char* kind) {
    std::lock_guard lock(mutex_);
    return hang_.contains(kind);
  };
  if (std::holds_alternative<admin::Hello>(message)) {
    int min = 0, max = 0;
    {
      std::lock_guard lock(mutex_);
      min = min_;
      max = max_;
    }
    Say(admin::Hello{min, max, {}, "tiny"});
  } else if (const auto* sync = std::get_if<admin::Sync>(&message)) {
    std::string line = "sync";
    for (const admin::Grant& grant : sync->grants) line += " " + grant.agent.name;
    Note(line);
    for (const admin::Grant& grant : sync->grants) Answer(grant, "sync");
    if (!hangs("sync")) Say(admin::Synced{static_cast<int64_t>(sync->grants.size())});
  } else if (const auto* put = std::get_if<admin::Put>(&message)) {
    Note("put " + put->grant.agent.name + " " + std::to_string(put->grant.generation));
    Answer(put->grant, "put");
  } else if (const auto* remove = std::get_if<admin::Remove>(&message)) {
    Note("remove " + remove->uid);
    if (!hangs("remove")) Say(admin::Removed{remove->uid});
  } else if (const auto* announce = std::get_if<admin::Announce>(&message)) {
    Note("announce " + announce->uid + " " + announce->instance);
    if (!hangs("announce")) Say(admin::Announced{announce->uid, announce->instance, hangs("window") ? "disk full" : ""});
  } else if (const auto* probe = std::get_if<admin::Probe>(&message)) {
    Note("probe " + probe->uid);
    if (!hangs("probe")) Say(admin::RoundTrip{probe->uid, true, 321, ""});
  }
}

}  // namespace beige::testing
