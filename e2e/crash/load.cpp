#include "e2e/crash/load.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/unix_socket.h"

namespace beige::e2e {

Load::Load(const std::vector<std::string>& sockets, std::function<void(int)> edit) {
  for (const auto& socket : sockets) {
    threads_.emplace_back([this, socket] {
      while (!stop_) Call(socket);
    });
  }
  threads_.emplace_back([this, edit = std::move(edit)] {
    for (int i = 0; !stop_; ++i) {
      edit(i);
      std::this_thread::sleep_for(milliseconds(50));
    }
  });
}

Load::~Load() {
  stop_ = true;
  for (auto& thread : threads_) thread.join();
}

// Some calls are long enough to be cut short, most are over at once.
void Load::Call(const std::string& socket) {
  static constexpr std::string_view kRequests =
      R"({"type":"tool_request","tool":"hello","args":[]})" "\n"
      R"({"type":"tool_request","tool":"nap","args":[]})" "\n"
      R"({"type":"tool_request","tool":"hello","args":[]})" "\n";
  auto fd = ConnectUnix(socket);
  if (!fd || !SendAll(fd->get(), kRequests)) {
    std::this_thread::sleep_for(milliseconds(10));
    return;
  }
  const timeval limit{1, 0};
  ::setsockopt(fd->get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char chunk[4096];
  std::string text;
  for (int lines = 0; lines < 3 && !stop_;) {
    const ssize_t n = ::read(fd->get(), chunk, sizeof chunk);
    if (n <= 0) return;
    text.append(chunk, static_cast<size_t>(n));
    for (size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1), ++lines) {
      if (text.find(R"("success":true)") < end) answered_ += 1;
    }
  }
}

}  // namespace beige::e2e
