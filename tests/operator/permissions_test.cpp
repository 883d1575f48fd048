#include "operator/reconcile/permissions.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "base/unique_fd.h"

#include "tests/operator/temp_dir.h"

namespace beige {
namespace {
namespace fs = std::filesystem;
using testing::TempDir;

class PermissionsTest : public ::testing::Test {
 protected:
  PermissionsTest() {
    for (const char* name : {"home/agents", "allowed/data", "allowed-too", "engine"}) fs::create_directories(root / name);
    root.Write("engine/docker.sock", "");
    config.allowed_volume_roots = {root / "allowed"};
  }
  // "" = permitted, else why not.
  std::string Why(const std::string& host_path) {
    AgentSpec spec;
    spec.sandbox.volumes = {{"v", "/data", host_path, true}};
    const Permissions result = CheckPermissions(spec, config, HomePaths(root / "home"), root / "engine/docker.sock");
    EXPECT_EQ(result.refused.empty(), result.sources.contains("v"));
    return result.refused.empty() ? "" : result.refused[0];
  }
  TempDir root;
  OperatorConfig config;
};

TEST_F(PermissionsTest, OnlyWhatLiesBeneathAnAllowedRootIsMounted) {
  EXPECT_EQ(Why(root / "allowed/data"), "");
  EXPECT_EQ(Why(root / "allowed"), "");
  EXPECT_NE(Why(root / "allowed-too"), "") << "a name that only begins alike";
  EXPECT_NE(Why(root / "allowed/../engine"), "");
  EXPECT_NE(Why(root / "allowed/absent"), "");
  config.allowed_volume_roots.clear();
  EXPECT_NE(Why(root / "allowed/data"), "") << "no roots, no volumes";
}

TEST_F(PermissionsTest, ALinkCountsAsWhereItLeads) {
  fs::create_directory_symlink(root / "engine", root / "allowed/link");
  EXPECT_NE(Why(root / "allowed/link").find(root / "engine"), std::string::npos);
}

TEST_F(PermissionsTest, SomeThingsAreNeverMountedWhateverIsAllowed) {
  config.allowed_volume_roots = {"/"};
  for (const std::string& path : {std::string("/"), std::string("/proc"), std::string("/proc/sys"), std::string("/sys"), std::string("/dev"),
                                  root / "home", root / "home/agents", root.path(), root / "engine", root / "engine/docker.sock"}) {
    EXPECT_NE(Why(path).find("never mounted"), std::string::npos) << path << ": " << Why(path);
  }
  EXPECT_EQ(Why(root / "allowed/data"), "");
}

// With mounts of its own: the test's process has a mount namespace to itself.
class BindMountTest : public PermissionsTest {
 protected:
  void SetUp() override {
    if (::unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << "needs root: it makes bind mounts";
    ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
  }
  std::string Bind(const std::string& source, const std::string& name) {
    const std::string target = root / ("allowed/" + name);
    if (fs::is_directory(source)) {
      fs::create_directories(target);
    } else {
      root.Write("allowed/" + name, "");
    }
    EXPECT_EQ(::mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr), 0) << std::strerror(errno);
    mounted_.push_back(target);
    if (::mount("none", target.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) GiveUp();
    return target;
  }
  // The temporary directory is removed with all that is in it: nothing may be mounted there then, least of all the host's root.
  void TearDown() override {
    for (; !mounted_.empty(); mounted_.pop_back()) {
      if (::umount2(mounted_.back().c_str(), MNT_DETACH) != 0) GiveUp();
    }
    if (ReadFile("/proc/self/mountinfo", 64u << 20).value_or(root.path()).find(root.path()) != std::string::npos) GiveUp();
  }
  static void GiveUp() {
    std::fprintf(stderr, "a mount can't be taken away again: %s\n", std::strerror(errno));
    std::_Exit(1);
  }
  std::vector<std::string> mounted_;
};

TEST_F(BindMountTest, ABindMountCountsAsWhatItShows) {
  fs::create_directories(root / "home/agents/default/other/workspace");
  fs::create_directories(root / "engine/sub");
  fs::create_directories(root / "plain/inner");
  const std::map<std::string, std::string> cases{
      {"root", "/"}, {"proc", "/proc"}, {"dev", "/dev"}, {"sys", "/sys"}, {"home", root / "home"}, {"holder", root.path()},
      {"workspace", root / "home/agents/default/other/workspace"}, {"engine", root / "engine"}, {"socket", root / "engine/docker.sock"}};
  for (const auto& [name, source] : cases) {
    const std::string target = Bind(source, name);
    EXPECT_NE(Why(target).find("never mounted"), std::string::npos) << source << ": " << Why(target);
    fs::create_directory_symlink(target, root / ("allowed/link-to-" + name));
    EXPECT_NE(Why(root / ("allowed/data/../link-to-" + name)).find("never mounted"), std::string::npos) << source << " through a link and ..";
    if (fs::is_directory(source)) {
      EXPECT_NE(Why(target + "/../" + name), "") << source;
    }
  }
  EXPECT_EQ(Why(Bind(root / "plain", "plain")), "");
  EXPECT_EQ(Why(root / "allowed/plain/inner"), "");
}

TEST_F(BindMountTest, WhatHoldsAnotherMountIsRefusedWithThatMountsName) {
  fs::create_directories(root / "allowed/data/deep");
  ASSERT_EQ(Why(root / "allowed/data"), "");
  mounted_.push_back(root / "allowed/data/deep");
  ASSERT_EQ(::mount("tmpfs", (root / "allowed/data/deep").c_str(), "tmpfs", 0, "size=64k"), 0);
  EXPECT_NE(Why(root / "allowed/data").find("holds another mount, " + root / "allowed/data/deep"), std::string::npos) << Why(root / "allowed/data");
  EXPECT_EQ(Why(root / "allowed/data/deep"), "") << "as a volume of its own";
}

TEST_F(PermissionsTest, AListeningEngineIsKnownWhereverItListens) {
  // Bound in place, as engines do: our own ListenUnix renames, and the kernel goes on telling the first name.
  const UniqueFd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (root / "allowed/data/containerd.sock").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listening.get(), 1), 0);
  EXPECT_NE(Why(root / "allowed/data").find("engine's socket"), std::string::npos) << Why(root / "allowed/data");
  EXPECT_NE(Why(root / "allowed/data/containerd.sock").find("engine's socket"), std::string::npos);
}

TEST_F(PermissionsTest, ImagesAreHeldToTheirPrefixesAndTheDefaultIsNot) {
  config.allowed_image_prefixes = {"registry.example.org/team/"};
  const auto refused = [&](const std::string& image) {
    AgentSpec spec;
    spec.sandbox.image = image;
    return !CheckPermissions(spec, config, HomePaths(root / "home"), "").refused.empty();
  };
  EXPECT_FALSE(refused(""));
  EXPECT_FALSE(refused("registry.example.org/team/x:1"));
  EXPECT_TRUE(refused("registry.example.org/teamx"));
  EXPECT_TRUE(refused("debian:12"));
  config.allowed_image_prefixes = {"registry.example.org/team", "debian"};
  EXPECT_FALSE(refused("registry.example.org/team/x:1"));
  EXPECT_FALSE(refused("debian:12"));
  EXPECT_FALSE(refused("debian@sha256:00"));
  EXPECT_TRUE(refused("registry.example.org/team-of-others/x:1")) << "a prefix ends where a part of the name ends";
  EXPECT_TRUE(refused("debian.example.com/x"));
}

}  // namespace
}  // namespace beige
