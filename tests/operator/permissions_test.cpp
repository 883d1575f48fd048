#include "operator/reconcile/permissions.h"

#include <gtest/gtest.h>

#include <filesystem>

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
}

}  // namespace
}  // namespace beige
