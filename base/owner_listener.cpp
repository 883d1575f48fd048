#include "base/owner_listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/log.h"
#include "base/unix_socket.h"
#include "base/user_namespace.h"

namespace beige {
namespace {
constexpr std::chrono::milliseconds kBackOff{100};
}  // namespace

Result<std::unique_ptr<OwnerListener>> OwnerListener::Open(Loop& loop, const std::string& path, const std::string& also) {
  struct stat info {};
  const uid_t owner = ::stat(also.c_str(), &info) == 0 ? info.st_uid : ::geteuid();
  BEIGE_ASSIGN(UniqueFd fd, ListenUnix(path, 0600));
  return std::unique_ptr<OwnerListener>(new OwnerListener(loop, path.substr(path.rfind('/') + 1), owner, std::move(fd)));
}

OwnerListener::OwnerListener(Loop& loop, std::string name, uid_t also, UniqueFd fd)
    : name_(std::move(name)), also_(also), fd_(std::move(fd)), watch_(loop, fd_.get()), retry_(loop) {}

void OwnerListener::Start(OnConnection on_connection) {
  on_connection_ = std::move(on_connection);
  watch_.OnReadable([this] { Accept(); });
}

void OwnerListener::Accept() {
  UniqueFd fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    watch_.OnReadable(nullptr);  // out of descriptors: it would stay readable
    retry_.Start(kBackOff, [this] { watch_.OnReadable([this] { Accept(); }); });
    return;
  }
  const auto peer = PeerOf(fd.get());
  // Where the kernel can't name root of the machine, the socket's mode has judged: it is open to its owner, whom root is, and to nobody else.
  if (!peer || (peer->uid != ::geteuid() && peer->uid != 0 && peer->uid != also_ && !MayBeRootOutside(peer->uid))) {
    LogWarn("stranger on " + name_, {{"uid", peer ? std::to_string(peer->uid) : "unknown"}});
    return;
  }
  on_connection_(std::move(fd));
}

}  // namespace beige
