#include "api/engine_sockets.h"

#include <gmock/gmock.h>

#include "cli/supervise/gateway_view.h"

namespace beige::cli {
namespace {
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Not;

std::optional<std::string> Env(const std::string& name) {
  if (name == "DOCKER_HOST") return "unix:///srv/engine/d.sock";
  if (name == "CONTAINER_HOST") return "tcp://127.0.0.1:1";
  if (name == "XDG_RUNTIME_DIR") return "/run/user/77";
  if (name == "HOME") return "/home/u";
  return std::nullopt;
}

TEST(EngineSocketsTest, KnowsTheConfiguredTheUsualTheRootlessAndTheListening) {
  const std::string table =
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "0000: 00000002 00000000 00010000 0001 01 11 /opt/x/containerd.sock\n"
      "0000: 00000002 00000000 00010000 0001 01 12 /opt/y/postgres.sock\n"
      "0000: 00000003 00000000 00000000 0001 03 13 /opt/z/docker.sock\n"
      "0000: 00000002 00000000 00010000 0001 01 14 @/abstract/docker.sock\n";
  const auto sockets = EngineSockets("/cfg/my.sock", Env, table);
  for (const char* path : {"/cfg/my.sock", "/srv/engine/d.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
                           "/run/crio/crio.sock", "/run/user/77/docker.sock", "/run/user/77/podman/podman.sock", "/home/u/.docker/run/docker.sock",
                           "/opt/x/containerd.sock"}) {
    EXPECT_THAT(sockets, Contains(path));
  }
  EXPECT_THAT(sockets, Not(Contains("/opt/y/postgres.sock")));
  EXPECT_THAT(sockets, Not(Contains("/opt/z/docker.sock"))) << "a connected socket is not where an engine listens";
}

TEST(GatewayViewTest, MountsFromTheRootDownSoThatTheInnermostWins) {
  GatewayView view;
  view.home = "/run/beige";
  view.writable = {"/run/beige/run"};
  view.masked = {"/run", "/run/beige/run/engine"};
  view.kept = {"/run/beige", "/run/systemd/resolve"};
  const auto arguments = BubblewrapArguments(view);
  const auto at = [&](const std::string& flag, const std::string& path) {
    for (size_t i = 0; i + 1 < arguments.size(); ++i) {
      if (arguments[i] == flag && arguments[i + 1] == path) return i;
    }
    return size_t{0};
  };
  const size_t run = at("--tmpfs", "/run");
  const size_t home = at("--ro-bind", "/run/beige");
  const size_t writable = at("--bind", "/run/beige/run");
  const size_t engine = at("--tmpfs", "/run/beige/run/engine");
  EXPECT_LT(at("--ro-bind", "/"), run);
  EXPECT_LT(run, home);
  EXPECT_LT(home, writable);
  EXPECT_LT(writable, engine);
  EXPECT_GT(at("--ro-bind", "/run/systemd/resolve"), run);
  EXPECT_THAT(arguments, AllOf(Contains("--unshare-user"), Contains("--die-with-parent"), Not(Contains("--unshare-pid")), Not(Contains("--unshare-net"))));
  EXPECT_EQ(arguments.back(), "--");
}

TEST(GatewayViewTest, BeneathMeansWholePathComponents) {
  EXPECT_TRUE(IsWithin("/run/x", "/run"));
  EXPECT_TRUE(IsWithin("/run", "/run"));
  EXPECT_TRUE(IsWithin("/run", "/"));
  EXPECT_FALSE(IsWithin("/running", "/run"));
  EXPECT_FALSE(IsWithin("/", "/run"));
}

}  // namespace
}  // namespace beige::cli
