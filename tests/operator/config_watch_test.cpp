#include "operator/app/config_watch.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/operator/temp_dir.h"

namespace beige {
namespace {
using std::chrono::milliseconds;
using std::chrono::seconds;

class ConfigWatchTest : public ::testing::Test {
 protected:
  size_t Prefixes() { return config.Copy()->allowed_image_prefixes.size(); }

  static constexpr const char* kWhole =
      "apiVersion: beige.dev/v1alpha1\nkind: OperatorConfig\nceilings: {imagePrefixes: [\"registry.example/good/\"]}\n";
  struct Home : testing::TempDir {
    Home() { Write("operator.yaml", kWhole); }
  };
  const Home home;
  HomePaths paths{home.path()};
  ManualClock clock;
  ConfigState config{std::make_shared<const OperatorConfig>(*LoadOperatorConfig(kWhole, "operator.yaml", ProcessEnv()).value)};
  int changes = 0;
  ConfigWatch watch{paths, config, clock, [this] { ++changes; }};
};

TEST_F(ConfigWatchTest, AFileInTheMiddleOfAWriteIsNotObeyed) {
  ASSERT_EQ(Prefixes(), 1u);
  for (const std::string& cut : {std::string(), std::string(kWhole).substr(0, 56)}) {
    home.Write("operator.yaml", cut);
    watch.Look();
    clock.Advance(milliseconds(1900));
    watch.Look();
    EXPECT_EQ(Prefixes(), 1u) << cut;
    home.Write("operator.yaml", kWhole);
    watch.Look();
    EXPECT_EQ(Prefixes(), 1u) << cut;
  }
  EXPECT_EQ(changes, 0);
}

TEST_F(ConfigWatchTest, AShorterFileIsObeyedOnceItWasStillForTwoSeconds) {
  home.Write("operator.yaml", "");
  watch.Look();
  clock.Advance(seconds(2));
  watch.Look();
  EXPECT_EQ(Prefixes(), 0u);
  EXPECT_EQ(changes, 1);
}

TEST_F(ConfigWatchTest, AFileThatWasRenamedIntoPlaceIsObeyedAtOnce) {
  home.Write("new", "apiVersion: beige.dev/v1alpha1\nkind: OperatorConfig\n");
  std::filesystem::rename(home / "new", home / "operator.yaml");
  watch.Look();
  EXPECT_EQ(Prefixes(), 0u);
}

TEST_F(ConfigWatchTest, AnInvalidFileIsNamedAndTheFormerStays) {
  home.Write("operator.yaml", std::string(kWhole) + "nonsense: 1\n");
  watch.Look();
  EXPECT_EQ(Prefixes(), 1u);
  EXPECT_FALSE(watch.problems().empty());
}

}  // namespace
}  // namespace beige
