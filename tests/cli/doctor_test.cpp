#include <gmock/gmock.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "engine_double.h"
#include "home.h"

namespace beige::testing {
namespace {
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using nlohmann::json;

class DoctorTest : public ::testing::Test {
 protected:
  Outcome Doctor(std::vector<std::string> arguments = {}, std::vector<std::string> environment = {}) const {
    arguments.insert(arguments.begin(), {BeigeProgram(), "--home", home_, "doctor"});
    environment.insert(environment.begin(), "DOCKER_HOST=unix://" + socket_);
    return Program(arguments, environment).Finish(std::chrono::seconds(60));
  }
  json Look(std::vector<std::string> environment = {}) const { return json::parse(Doctor({"-o", "json"}, std::move(environment)).out); }
  static json Of(const json& report, const std::string& check) {
    for (const auto& finding : report["findings"]) {
      if (finding["check"] == check) return finding;
    }
    return nullptr;
  }

  const std::string directory_ = TemporaryDirectory();
  std::string home_ = directory_ + "/home";  // not there
  const std::string socket_ = directory_ + "/engine/engine.sock";
  void SetUp() override { ASSERT_TRUE(MakeDirs(directory_ + "/engine", 0700)); }
  void TearDown() override { static_cast<void>(RemoveTree(directory_)); }
};

TEST_F(DoctorTest, WithoutAHomeItSpeaksOfTheMachineAndMakesNothing) {
  const EngineDouble engine(socket_);
  const Outcome text = Doctor();
  EXPECT_EQ(text.status, 0) << text.out << text.err;
  for (const char* check : {"privilegeSplit", "cells.bubblewrap", "cells.userNamespaces", "cells.make", "cells.landlock", "engine.docker", "engine.docker.limits", "engine.podman", "image",
                            "limits.descriptors", "limits.inotify", "limits.disk", "home", "processes"}) {
    EXPECT_THAT(text.out, HasSubstr(std::string("   ") + check + "  ")) << check;
  }
  EXPECT_THAT(text.out, HasSubstr("to do: make one with 'beige init'"));
  EXPECT_FALSE(Exists(home_));
  const json report = Look();
  EXPECT_EQ(report["canRunAgents"], true);
  EXPECT_EQ(report["privilegeSplit"], "namespace");
  EXPECT_EQ(report["cells"], (json{{"bubblewrap", true}, {"userNamespaces", true}, {"made", true}})) << Of(report, "cells.make");
  EXPECT_EQ(report["engines"][0]["version"], "9.9");
  EXPECT_EQ(report["engines"][0]["used"], true);
  EXPECT_EQ(report["engines"][1]["name"], "podman");
  EXPECT_THAT(Of(report, "image")["message"], HasSubstr("is in the engine"));
}

TEST_F(DoctorTest, AMissingPieceIsOneAndSaysWhatToDo) {
  const Outcome none = Doctor();  // nobody listens at the socket
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.out, HasSubstr("not found at " + socket_));
  EXPECT_THAT(none.err, HasSubstr("beige: doctor: agents can't run yet"));
  const EngineDouble engine(socket_);
  const json without = Look({"PATH=/nonexistent"});
  EXPECT_EQ(without["canRunAgents"], false);
  EXPECT_EQ(without["privilegeSplit"], "none");
  EXPECT_EQ(Of(without, "cells.bubblewrap")["level"], "fail");
  EXPECT_THAT(Of(without, "cells.bubblewrap")["action"], HasSubstr("apt-get install bubblewrap"));
}

TEST_F(DoctorTest, ABrokenConfigurationAndWrongModesAreFound) {
  const EngineDouble engine(socket_);
  const Home home;
  home_ = home.path();
  ASSERT_EQ(::chmod(home_.c_str(), 0700), 0);
  home.Write("gateway.yaml", "apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\nhtpp: {}\n", 0600);
  home.Write("agents.d/a.yaml", "nonsense: 1\n");
  ASSERT_EQ(::chmod((home_ + "/agents.d").c_str(), 0777), 0);
  const json report = Look();
  EXPECT_EQ(report["canRunAgents"], false);
  EXPECT_EQ(Of(report, "config")["level"], "fail");
  EXPECT_THAT(Of(report, "config")["message"], HasSubstr("htpp"));
  EXPECT_EQ(Of(report, "home.ownership")["level"], "warn");
  EXPECT_EQ(Of(report, "home.ownership")["action"], "chmod go-w " + home_ + "/agents.d");
  EXPECT_FALSE(home.Has("data/gateway")) << "looking makes nothing";
  EXPECT_THAT(Doctor({"-o", "wide"}).out, ContainsRegex("\nagents.d +you +[^ ]+ +0777 +others than its owner"));
  // An invalid Agent alone stops nobody else.
  home.Write("gateway.yaml", "apiVersion: beige.dev/v1alpha1\nkind: GatewayConfig\n", 0600);
  EXPECT_EQ(Of(Look(), "config")["level"], "warn");
}

}  // namespace
}  // namespace beige::testing
