// gateway_core_wait lines|requests|connects|quiet [ROUNDS]: how much of its processor time the core spends on 64 connections of one agent, all of which
// have brought what they can, before another agent's call is started. Core, flood and neighbour are one thread that takes turns, and the clock is
// the thread's own: so a full machine changes little. Prints one JSON object.
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/unix_socket.h"
#include "gateway/link/link.h"

namespace {
using namespace beige;

double Micros() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

// Denies every call and tells of those of the neighbour.
struct Deny final : CallService {
  std::function<void()> on_neighbour;
  Id Start(CallRequest request, CallSink* sink) override {
    if (request.agent.name == "neighbour") on_neighbour();
    sink->OnExit({BGE_HOW_DENIED, 126, request.tool + ": denied", "id"});
    return 0;
  }
  void Stdin(Id, std::string_view) override {}
  void StdinEof(Id) override {}
  void Signal(Id, int) override {}
  void Resize(Id, v2::TerminalSize) override {}
  void Credit(Id, uint8_t, uint32_t) override {}
  void Cancel(Id) override {}
  size_t InFlight(std::string_view) const override { return 0; }
};

UniqueFd Dial(const std::string& path) {
  auto fd = ConnectUnix(path);
  if (!fd || !SetNonBlocking(fd->get())) return {};
  return std::move(*fd);
}

constexpr std::string_view kRequest = "{\"type\":\"tool_request\",\"tool\":\"not-granted\",\"args\":[\"get\",\"a\"]}\n";

struct Flooder {
  UniqueFd fd;
  size_t at = 0;

  // Sends of `bytes`, over and over, what the socket takes.
  void Send(const std::string& path, std::string_view bytes, bool endless) {
    char sink[16 << 10];
    if (!fd) {
      fd = Dial(path);
      at = 0;
      if (fd && endless) (void)!::write(fd.get(), "{\"type\":\"", 9);
    }
    bool gone = ::recv(fd.get(), sink, sizeof sink, MSG_DONTWAIT) == 0;
    for (ssize_t n = 1; n > 0 && !bytes.empty();) {
      n = ::send(fd.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
      gone |= n < 0 && errno != EAGAIN;
      if (n > 0) at = (at + static_cast<size_t>(n)) % bytes.size();
    }
    if (gone) fd.Reset();
  }
};
}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 200;
  std::string bytes;
  if (how == "lines") bytes.assign(64 << 10, 'x');
  while (how == "requests" && bytes.size() < 64 << 10) bytes += kRequest;

  Loop loop;
  WriteBatch batch;
  Turns turns(loop);
  Party loud(turns), quiet(turns);
  Deny deny;
  const std::string path = "/tmp/gateway-core-wait." + std::to_string(::getpid());
  auto loud_link = Link::Open(loop, batch, loud, {"default", "loud", "1"}, path + ".loud", {}, deny, {});
  auto quiet_link = Link::Open(loop, batch, quiet, {"default", "neighbour", "2"}, path + ".quiet", {}, deny, {});
  if (!loud_link || !quiet_link) return 1;
  const UniqueFd neighbour = Dial(path + ".quiet");

  std::vector<Flooder> flood(64);
  std::vector<double> waits;
  double asked = 0;
  int left = 0;
  const auto ask = [&] {
    char sink[4096];
    (void)::recv(neighbour.get(), sink, sizeof sink, MSG_DONTWAIT);
    (void)::send(neighbour.get(), kRequest.data(), kRequest.size(), MSG_DONTWAIT);
    asked = Micros();
  };
  deny.on_neighbour = [&] {
    waits.push_back(Micros() - asked);
    if (--left > 0) loop.Post(ask);
  };
  for (int round = 0; round < rounds; ++round) {
    for (Flooder& flooder : flood) {
      if (how == "connects") flooder.fd.Reset();
      if (how != "quiet") flooder.Send(path + ".loud", bytes, how == "lines");
    }
    left = 10;
    ask();
    while (left > 0) loop.RunOnce(std::chrono::milliseconds(1));
  }
  ::unlink((path + ".loud").c_str());
  ::unlink((path + ".quiet").c_str());
  std::sort(waits.begin(), waits.end());
  std::printf("{\"p50_us\":%.2f,\"p99_us\":%.2f,\"n\":%zu}\n", waits[waits.size() / 2], waits[waits.size() * 99 / 100], waits.size());
  return 0;
}
