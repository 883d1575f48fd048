#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/load.h"
#include "tests/api/problems_of.h"

namespace beige {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::optional<std::string> Env(const std::string& name) { return name == "XDG_RUNTIME_DIR" ? std::optional<std::string>("/run/user/1000") : std::nullopt; }

constexpr const char* kHead = "apiVersion: beige.dev/v1alpha1\nkind: OperatorConfig\n";

std::vector<std::string> ProblemsOf(const std::string& rest) { return Texts(LoadOperatorConfig(kHead + rest, "/h/operator.yaml", Env).problems); }

OperatorConfig Config(const std::string& rest) {
  const auto loaded = LoadOperatorConfig(kHead + rest, "/h/operator.yaml", Env);
  EXPECT_THAT(Texts(loaded.problems), IsEmpty());
  return loaded.value.value_or(OperatorConfig());
}

TEST(OperatorConfigTest, AnEmptyFileAndOneThatNamesNothingAreTheDefaultsOfTheStruct) {
  EXPECT_EQ(Config(""), OperatorConfig());
  EXPECT_EQ(LoadOperatorConfig("", "/h/operator.yaml", Env).value, OperatorConfig());
}

TEST(OperatorConfigTest, ReadsEveryField) {
  OperatorConfig want;
  want.engine_type = EngineType::kPodman;
  want.engine_socket = "/run/user/1000/podman/podman.sock";
  want.default_image = "localhost/mine:1";
  want.default_cpu_millis = 500;
  want.default_memory_bytes = 3LL << 29;
  want.allowed_image_prefixes = {"localhost/", "ghcr.io/x/"};
  want.allowed_volume_roots = {"/srv/papers", "/h/data"};
  want.uid_first = 300000;
  want.uid_last = 300999;
  want.disk_min_free = 256 << 20;
  want.metrics = {"127.0.0.1", 0};
  want.resync = std::chrono::seconds(30);
  const std::string text = R"(
engine: {type: podman, socket: "${XDG_RUNTIME_DIR}/podman/podman.sock"}
defaults: {image: localhost/mine:1, resources: {cpu: "0.5", memory: 1.5Gi}}
ceilings: {imagePrefixes: [localhost/, ghcr.io/x/]}
volumes: {allowedRoots: [/srv/papers, ./data/]}
disk: {minFree: 256Mi}
metrics: {listen: 127.0.0.1:0}
resync: 30s
)";
  EXPECT_EQ(Config(text + "uidRange: 300000-300999\n"), want);
  EXPECT_EQ(Config(text + "uidRange: {first: 300000, last: 300999}\n"), want);
}

TEST(OperatorConfigTest, TakesAnAddressForTheSocketAndRefusesOneThatIsTooLong) {
  EXPECT_EQ(Config("engine: {socket: \"unix:///var/run/docker.sock\"}").engine_socket, "/var/run/docker.sock");
  EXPECT_THAT(ProblemsOf("engine: {socket: /" + std::string(107, 'x') + "}"), ElementsAre(HasSubstr("limit is 107")));
  EXPECT_THAT(ProblemsOf("engine: {socket: \"\"}"), SizeIs(1));
}

TEST(OperatorConfigTest, RefusesUidRangesThatHoldRootOrNobody) {
  for (const char* bad : {"0-100", "200000", "5-4", "1-4294967295", "a-b", "-1-5", "{first: 1}", "{first: 0, last: 5}", "{first: 1, last: 2, step: 3}", "[1, 2]", "\"1 - 2\"", "\"\""}) {
    EXPECT_THAT(ProblemsOf(std::string("uidRange: ") + bad), ElementsAre(HasSubstr("/h/operator.yaml:3:11: uidRange: want two uids"))) << bad;
  }
  EXPECT_EQ(Config("uidRange: 1000-1000").uid_last, 1000u);
}

TEST(OperatorConfigTest, ReportsEveryProblemWithItsPlace) {
  EXPECT_THAT(ProblemsOf(R"(engine: {type: dokcer}
defaults: {image: a b, resources: {cpu: 0, memory: 3g}}
volumes: {allowedRoots: [/, /a, /a]}
resync: fast
sync: 1
)"),
              ElementsAre(HasSubstr("3:16: engine.type: want one of auto, docker, podman, got \"dokcer\"; did you mean docker?"), HasSubstr("defaults.image: want an image reference"),
                          HasSubstr("defaults.resources.cpu: want cores"), HasSubstr("defaults.resources.memory: want bytes"), HasSubstr("volumes.allowedRoots[0]: want a directory other than /"),
                          HasSubstr("volumes.allowedRoots[2]: \"/a\" stands twice"), HasSubstr("resync: want a duration from 1s to 1d, such as 30s or 2m, got \"fast\""),
                          HasSubstr("sync: no such field; did you mean resync?")));
}

}  // namespace
}  // namespace beige
