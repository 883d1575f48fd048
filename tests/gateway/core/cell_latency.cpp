// One tool call, whole, without an engine; built on demand, as tests/sandbox/latency.cpp is.
// A gateway's core in this process (policy, audit with sync batch, a real cell) and, in a bubblewrap sandbox, `spawn` (spawn.c) that starts
// the launcher N times, one after the other. Beside it, interleaved, what nothing can beat: `spawn` of a static program that does nothing.
//   gateway_cell_latency DIR [N] [ROUNDS]     DIR: where `spawn` and `noop` lie
// Prints one JSON line: medians over the rounds, in microseconds.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/spawn.h"
#include "tests/gateway/core/client.h"
#include "tests/gateway/core/core.h"

namespace {
using beige::testing::Client;
using beige::testing::Core;

struct Times {
  double p50 = 0;
  double p99 = 0;
};

Times Inside(const std::string& link, const std::string& programs, const std::string& binary, const std::string& n, const std::string& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  beige::SpawnRequest request;
  request.argv = {"bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev", "--ro-bind", link, "/beige",
                  "--ro-bind", programs, "/t", "--ro-bind", binary, "/bin/beige-sandbox", "--symlink", "/bin/beige-sandbox", "/tools/bin/noop",
                  "--die-with-parent", "/t/spawn", n, command};
  request.environment = {"PATH=/usr/bin"};
  request.fds = {{ends[1], 1}, {2, 2}};
  const auto pid = beige::Spawn(request);
  ::close(ends[1]);
  if (!pid) std::abort();
  std::string text;
  char chunk[512];
  for (ssize_t got; (got = ::read(ends[0], chunk, sizeof chunk)) > 0;) text.append(chunk, static_cast<size_t>(got));
  ::close(ends[0]);
  ::waitpid(*pid, nullptr, 0);
  Times times;
  int count = 0;
  int status = -1;
  if (std::sscanf(text.c_str(), "{\"p50_us\":%lf,\"p99_us\":%lf,\"n\":%d,\"status\":%d}", &times.p50, &times.p99, &count, &status) != 4 || status != 0) {
    std::fprintf(stderr, "gateway_cell_latency: %s: %s\n", command.c_str(), text.c_str());
    std::exit(1);
  }
  return times;
}

double MedianOf(std::vector<Times> all, double Times::*field) {
  std::sort(all.begin(), all.end(), [&](const Times& a, const Times& b) { return a.*field < b.*field; });
  return all[all.size() / 2].*field;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: gateway_cell_latency DIR [N] [ROUNDS]\n");
    return 2;
  }
  const std::string programs = argv[1];
  const std::string n = argc > 2 ? argv[2] : "300";
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  Core core;
  auto& tool = core.AddTool("noop", "");
  std::filesystem::copy_file(programs + "/noop", tool.folder + "/main", std::filesystem::copy_options::overwrite_existing);
  core.Configure();
  core.Grant("a1", {"noop"});
  if (Client(core.SocketOf("a1")).Call("noop")["success"] != true) return 1;
  const std::string link = std::filesystem::path(core.SocketOf("a1")).parent_path();
  const std::string binary = beige::ExecutableDir() + "/beige-sandbox";
  std::vector<Times> floor, call;
  for (int i = 0; i < rounds; ++i) {
    floor.push_back(Inside(link, programs, binary, n, "/t/noop"));
    call.push_back(Inside(link, programs, binary, n, "/tools/bin/noop"));
  }
  const double bare = MedianOf(floor, &Times::p50);
  const double whole = MedianOf(call, &Times::p50);
  std::printf("{\"name\":\"launcher_c_tool_in_cell\",\"unit\":\"us\",\"p50\":%.0f,\"p99\":%.0f,\"noop_p50\":%.0f,\"noop_p99\":%.0f,\"ratio\":%.2f}\n", whole,
              MedianOf(call, &Times::p99), bare, MedianOf(floor, &Times::p99), whole / bare);
  return 0;
}
