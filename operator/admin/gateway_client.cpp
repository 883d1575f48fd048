#include "operator/admin/gateway_client.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "base/unix_socket.h"

namespace beige {
namespace {
constexpr std::chrono::milliseconds kFirstBackoff{50};
constexpr std::chrono::milliseconds kMaxBackoff{1000};
constexpr size_t kMaxUnsent = 64u << 20;
}  // namespace

GatewayClient::GatewayClient(Loop& loop, const Clock& clock, std::string socket_path, std::string version, Callbacks callbacks)
    : loop_(loop),
      clock_(clock),
      path_(std::move(socket_path)),
      version_(std::move(version)),
      callbacks_(std::move(callbacks)),
      retry_(loop) {}

GatewayClient::~GatewayClient() {
  watch_.reset();
  Stop();
}

void GatewayClient::Stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
  wake_.notify_all();
}

void GatewayClient::Start() { Connect(); }

void GatewayClient::GrantsReady() {
  loop_.Post([this] { SyncIfReady(); });
}

void GatewayClient::Connect() {
  auto connected = ConnectUnix(path_);
  if (connected) {
    if (auto set = SetNonBlocking(connected->get()); !set) connected = tl::make_unexpected(set.error());
  }
  if (!connected) {
    {
      std::lock_guard lock(mutex_);
      shared_.table.Disconnected("the gateway does not answer: " + connected.error().message);
    }
    retry_.Start(backoff_, [this] { Connect(); });
    backoff_ = std::min(backoff_ * 2, kMaxBackoff);
    return;
  }
  fd_ = std::move(*connected);
  in_.clear();
  out_.clear();
  hello_done_ = false;
  {
    std::lock_guard lock(mutex_);
    ++shared_.epoch;
  }
  watch_ = std::make_unique<FdWatch>(loop_, fd_.get());
  watch_->OnReadable([this] { OnReadable(); });
  Send(admin::Hello{.min = admin::kVersion, .max = admin::kVersion, .features = {}, .version = version_});
}

void GatewayClient::Disconnect(const std::string& why) {
  watch_.reset();
  fd_.Reset();
  {
    std::lock_guard lock(mutex_);
    ++shared_.epoch;
    shared_.table.Disconnected(why);
    wake_.notify_all();
  }
  LogWarn("gateway connection ended", {{"why", why}});
  callbacks_.link_changed();
  retry_.Start(backoff_, [this] { Connect(); });
  backoff_ = std::min(backoff_ * 2, kMaxBackoff);
}

void GatewayClient::OnReadable() {
  char chunk[65536];
  for (;;) {
    const ssize_t n = ::recv(fd_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (n < 0) return Disconnect(std::string("read from the gateway: ") + std::strerror(errno));
    if (n == 0) return Disconnect("the gateway closed the connection");
    in_.append(chunk, static_cast<size_t>(n));
    size_t start = 0;
    for (size_t end; (end = in_.find('\n', start)) != std::string::npos; start = end + 1) {
      auto message = admin::DecodeToOperator(std::string_view(in_).substr(start, end - start));
      if (message) {
        Handle(*message);
        if (!fd_) return;  // it was the last straw
      } else if (message.error().code != Code::kNotFound) {  // NotFound: a newer gateway's word
        return Disconnect("the gateway sent something malformed: " + message.error().message);
      }
    }
    in_.erase(0, start);
    if (in_.size() > admin::kMaxLine) return Disconnect("the gateway sent a line longer than the limit");
  }
}

void GatewayClient::Handle(const admin::ToOperator& message) {
  if (const auto* hello = std::get_if<admin::Hello>(&message)) {
    if (hello->max < admin::kVersion || hello->min > admin::kVersion) {
      return Disconnect("the gateway (version " + hello->version + ") speaks admin protocol " + std::to_string(hello->min) + "-" +
                        std::to_string(hello->max) + ", this operator speaks " + std::to_string(admin::kVersion) + "; upgrade the older one");
    }
    hello_done_ = true;
    backoff_ = kFirstBackoff;
    {
      std::lock_guard lock(mutex_);
      shared_.table.Connected();
    }
    LogInfo("gateway connected", {{"version", hello->version}});
    SyncIfReady();
    return;
  }
  if (!hello_done_) return Disconnect("the gateway did not say hello first");
  std::string uid;
  {
    std::lock_guard lock(mutex_);
    uid = shared_.table.Apply(message, clock_.Now());
    wake_.notify_all();
  }
  if (!uid.empty()) callbacks_.changed(uid);
}

void GatewayClient::SyncIfReady() {
  if (!hello_done_ || !fd_) return;
  {
    std::lock_guard lock(mutex_);
    if (shared_.table.synced()) return;
  }
  auto grants = callbacks_.grants();
  if (!grants) return;
  {
    std::lock_guard lock(mutex_);
    shared_.table.SyncSent(*grants, clock_.Now());
  }
  Send(admin::Sync{std::move(*grants)});
  callbacks_.link_changed();
}

void GatewayClient::Send(const admin::ToGateway& message) {
  out_ += admin::Encode(message) + "\n";
  Flush();
}

void GatewayClient::Flush() {
  while (!out_.empty()) {
    const ssize_t n = ::send(fd_.get(), out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;  // full, or broken: then the reading side says so
    out_.erase(0, static_cast<size_t>(n));
  }
  if (out_.size() > kMaxUnsent) return Disconnect("the gateway does not read");
  if (out_.empty()) {
    watch_->OnWritable(nullptr);
  } else {
    watch_->OnWritable([this] { Flush(); });
  }
}

// Waits, on a worker, until `done` says so. `done` runs under the lock and touches only the table.
template <typename Done>
Result<> GatewayClient::WaitFor(uint64_t epoch, const std::string& doing, Done done) {
  std::unique_lock lock(mutex_);
  const auto deadline = std::chrono::steady_clock::now() + kAnswer;
  for (;;) {
    if (stopped_) return Fail(Code::kUnavailable, doing + ": the operator is stopping");
    if (shared_.epoch != epoch) return Fail(Code::kUnavailable, doing + ": the gateway went away");
    if (done()) return {};
    if (wake_.wait_until(lock, deadline) == std::cv_status::timeout && !done()) {
      return Fail(Code::kTimeout, doing + ": no answer from the gateway within " + FormatDuration(kAnswer));
    }
  }
}

void GatewayClient::Queue(const admin::ToGateway& message, uint64_t epoch) {
  loop_.Post([this, message, epoch] {
    const bool current = [&] {
      std::lock_guard lock(mutex_);
      return shared_.epoch == epoch;
    }();
    if (current && fd_) Send(message);
  });
}

Result<> GatewayClient::Put(const admin::Grant& grant) {
  uint64_t epoch = 0;
  {
    std::lock_guard lock(mutex_);
    if (!shared_.table.synced()) return Fail(Code::kUnavailable, shared_.table.absent_message());
    shared_.table.PutSent(grant, clock_.Now());
    epoch = shared_.epoch;
  }
  Queue(admin::Put{grant}, epoch);
  std::optional<admin::Rejected> rejected;
  BEIGE_TRY(WaitFor(epoch, "grant", [&] {
    const GatewayFacts facts = shared_.table.Facts(grant.agent.uid);
    rejected = facts.rejected;
    return !facts.pending;
  }));
  if (rejected) return Fail(Code::kInvalid, "the gateway refused the grant: " + rejected->message);
  return {};
}

Result<> GatewayClient::Remove(const std::string& uid) {
  uint64_t epoch = 0;
  {
    std::lock_guard lock(mutex_);
    if (!shared_.table.synced()) return Fail(Code::kUnavailable, shared_.table.absent_message());
    if (shared_.table.Removed(uid)) return {};
    shared_.table.RemoveSent(uid);
    epoch = shared_.epoch;
  }
  Queue(admin::Remove{uid}, epoch);
  return WaitFor(epoch, "remove grant", [&] { return shared_.table.Removed(uid); });
}

Result<> GatewayClient::Announce(const std::string& uid, const std::string& instance) {
  uint64_t epoch = 0;
  {
    std::lock_guard lock(mutex_);
    if (!shared_.table.synced()) return Fail(Code::kUnavailable, shared_.table.absent_message());
    if (shared_.table.Removed(uid)) return Fail(Code::kUnavailable, "announce: the gateway was not told of this agent yet");
    shared_.table.AnnounceSent(uid);
    epoch = shared_.epoch;
  }
  Queue(admin::Announce{uid, instance}, epoch);
  std::optional<admin::Announced> answer;
  BEIGE_TRY(WaitFor(epoch, "announce a start", [&] {
    answer = shared_.table.Facts(uid).announced;
    return answer && answer->instance == instance;
  }));
  if (!answer->message.empty()) return Fail(Code::kUnavailable, "the gateway can't take a start: " + answer->message);
  return {};
}

Result<> GatewayClient::Probe(const std::string& uid) {
  uint64_t epoch = 0;
  {
    std::lock_guard lock(mutex_);
    if (!shared_.table.synced()) return Fail(Code::kUnavailable, shared_.table.absent_message());
    shared_.table.ProbeSent(uid);
    epoch = shared_.epoch;
  }
  Queue(admin::Probe{uid}, epoch);
  return {};
}

GatewayFacts GatewayClient::Facts(const std::string& uid) const {
  std::lock_guard lock(mutex_);
  return shared_.table.Facts(uid);
}

GatewayClient::Link GatewayClient::link() const {
  std::lock_guard lock(mutex_);
  return {shared_.table.connected(), shared_.table.synced(), shared_.table.absent_message()};
}

}  // namespace beige
