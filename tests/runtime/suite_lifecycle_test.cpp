#include "tests/runtime/suite.h"

namespace beige::runtime {

TEST_P(RuntimeTest, PingNamesTheEngineAndTheNegotiatedVersion) {
  const auto info = runtime().Ping();
  ASSERT_OK(info);
  EXPECT_EQ(info->type, backend_->EngineType());
  EXPECT_FALSE(info->version.empty());
  EXPECT_TRUE(info->api_version.starts_with("1.")) << info->api_version;
}

TEST_P(RuntimeTest, CreatesAndStartsWhatTheSpecSays) {
  const SandboxSpec spec = Spec();
  const std::string id = Create(spec);
  Observed seen = Look(id);
  EXPECT_EQ(seen.id, id);
  EXPECT_EQ(seen.name, spec.name);
  EXPECT_EQ(seen.key, spec.key);
  EXPECT_EQ(seen.instance, "instance-1");
  EXPECT_EQ(seen.spec_hash, "hash-1");
  EXPECT_EQ(seen.template_version, 3);
  EXPECT_EQ(seen.state, State::kCreated);
  EXPECT_EQ(seen.started_at, "");
  EXPECT_EQ(seen.image_ref, kBusybox);
  EXPECT_TRUE(seen.image_id.starts_with("sha256:")) << seen.image_id;
  ASSERT_OK(runtime().Start(id));
  seen = Look(id);
  EXPECT_EQ(seen.state, State::kRunning);
  EXPECT_NE(seen.started_at, "");
  EXPECT_FALSE(seen.oom_killed);
}

TEST_P(RuntimeTest, FindsASandboxByNameAndNothingWhereTheNameIsFree) {
  const SandboxSpec spec = Spec();
  auto free = runtime().FindByName(spec.name);
  ASSERT_OK(free);
  EXPECT_EQ(*free, std::nullopt);
  const std::string id = Create(spec);
  auto found = runtime().FindByName(spec.name);
  ASSERT_OK(found);
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->id, id);
  EXPECT_EQ((*found)->key, spec.key);
}

TEST_P(RuntimeTest, FindByNameDoesNotTakeTheStartOfAnIdForAName) {
  const std::string id = Create(Spec());
  auto found = runtime().FindByName(id.substr(0, 12));
  ASSERT_OK(found);
  EXPECT_EQ(*found, std::nullopt);
}

TEST_P(RuntimeTest, ListHoldsTheSandboxesOfTheHomeStoppedOnesIncludedAndNoOthers) {
  const std::string running = Start(Spec("a1"));
  const std::string created = Create(Spec("a2"));
  SandboxSpec other = Spec("b1");
  other.key.home += "-other";
  const std::string foreign = Create(other);
  const auto list = runtime().List(home_);
  ASSERT_OK(list);
  std::set<std::string> ids;
  for (const Observed& observed : *list) ids.insert(observed.id);
  EXPECT_EQ(ids, (std::set<std::string>{running, created}));
  ASSERT_OK(runtime().Remove(foreign));
}

TEST_P(RuntimeTest, LabelOfTheHomeAloneMakesNoContainerOurs) {
  const std::string name = "beige-" + home_ + "-planted";
  backend_->AddForeign(name, {{"beige.dev/home", home_}});
  const auto list = runtime().List(home_);
  ASSERT_OK(list);
  EXPECT_TRUE(list->empty());
  const auto found = runtime().FindByName(name);
  ASSERT_OK(found);
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->key, SandboxKey{});
}

TEST_P(RuntimeTest, NameThatAStrangerHoldsIsAConflictAndTheStrangerStays) {
  const SandboxSpec spec = Spec();
  const std::string stranger = backend_->AddForeign(spec.name, {});
  const auto made = runtime().Create(spec);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, Code::kConflict) << made.error().message;
  EXPECT_NE(made.error().message.find(spec.name), std::string::npos) << made.error().message;
  const auto holder = runtime().FindByName(spec.name);
  ASSERT_OK(holder);
  ASSERT_TRUE(holder->has_value());
  EXPECT_EQ((*holder)->id, stranger);
  EXPECT_EQ((*holder)->key.uid, "");
  EXPECT_EQ((*holder)->state, State::kRunning);
}

TEST_P(RuntimeTest, RefusesToRemoveAContainerThatIsNotOurs) {
  const std::string stranger = backend_->AddForeign("beige-" + home_ + "-stranger", {});
  const auto removed = runtime().Remove(stranger);
  ASSERT_FALSE(removed.has_value());
  EXPECT_EQ(removed.error().code, Code::kDenied) << removed.error().message;
  EXPECT_EQ(Look(stranger).state, State::kRunning);
}

TEST_P(RuntimeTest, WhatIsGoneIsNothingToObserveNotFoundToStartAndSuccessToStopAndRemove) {
  const std::string id = Start(Spec());
  ASSERT_OK(runtime().Remove(id));
  const auto seen = runtime().Observe(id);
  ASSERT_OK(seen);
  EXPECT_EQ(*seen, std::nullopt);
  const auto started = runtime().Start(id);
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().code, Code::kNotFound) << started.error().message;
  const auto renamed = runtime().Rename(id, "beige-" + home_ + "-x");
  ASSERT_FALSE(renamed.has_value());
  EXPECT_EQ(renamed.error().code, Code::kNotFound);
  const auto unpaused = runtime().Unpause(id);
  ASSERT_FALSE(unpaused.has_value());
  EXPECT_EQ(unpaused.error().code, Code::kNotFound);
  EXPECT_TRUE(runtime().Stop(id, 1).has_value());
  EXPECT_TRUE(runtime().Remove(id).has_value());
}

TEST_P(RuntimeTest, StartOfARunningAndStopOfAStoppedSandboxSucceed) {
  const std::string id = Start(Spec());
  EXPECT_TRUE(runtime().Start(id).has_value());
  EXPECT_TRUE(runtime().Stop(id, 0).has_value());
  EXPECT_EQ(Look(id).state, State::kExited);
  EXPECT_NE(Look(id).finished_at, "");
  EXPECT_TRUE(runtime().Stop(id, 0).has_value());
  EXPECT_TRUE(runtime().Start(id).has_value());
  EXPECT_EQ(Look(id).state, State::kRunning);
}

TEST_P(RuntimeTest, RemovesARunningAndAPausedSandbox) {
  const std::string running = Start(Spec("a1"));
  const std::string paused = Start(Spec("a2"));
  backend_->Pause(paused);
  EXPECT_TRUE(runtime().Remove(running).has_value());
  const auto removed = runtime().Remove(paused);
  EXPECT_TRUE(removed.has_value()) << removed.error().message;
  const auto list = runtime().List(home_);
  ASSERT_OK(list);
  EXPECT_TRUE(list->empty());
}

TEST_P(RuntimeTest, NameIsFreeAsSoonAsRemoveReturns) {
  for (int round = 0; round < 3; ++round) {
    const std::string id = Start(Spec());
    ASSERT_OK(runtime().Remove(id));
  }
}

TEST_P(RuntimeTest, MissingMountSourceIsAnErrorAndMakesNoDirectory) {
  SandboxSpec spec = Spec();
  const std::string missing = dir_ / "missing";
  spec.mounts.push_back({MountKind::kDocs, missing, "/tools/packages", true});
  const auto made = runtime().Create(spec);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, Code::kInvalid);
  EXPECT_NE(made.error().message.find(missing), std::string::npos) << made.error().message;
  EXPECT_FALSE(Exists(missing));
  const auto list = runtime().List(home_);
  ASSERT_OK(list);
  EXPECT_TRUE(list->empty());
}

TEST_P(RuntimeTest, ImageThatTheEngineLacksIsNotFound) {
  SandboxSpec spec = Spec();
  spec.image = "localhost/no-such-image:1";
  const auto made = runtime().Create(spec);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, Code::kNotFound);
  EXPECT_NE(made.error().message.find("localhost/no-such-image:1"), std::string::npos) << made.error().message;
}

TEST_P(RuntimeTest, RefusesASpecThatCouldNotBeSafe) {
  const std::vector<std::pair<std::string, std::function<void(SandboxSpec&)>>> cases{
      {"user", [](SandboxSpec& s) { s.uid = 0; }},
      {"memory", [](SandboxSpec& s) { s.memory_bytes = 0; }},
      {"cpu", [](SandboxSpec& s) { s.cpu_millis = 0; }},
      {"pids", [](SandboxSpec& s) { s.pids_limit = 0; }},
      {"pids", [](SandboxSpec& s) { s.pids_limit = -1; }},
      {"/tmp", [](SandboxSpec& s) { s.tmp_bytes = 0; }},
      {"/tmp", [](SandboxSpec& s) { s.tmp_bytes = s.memory_bytes + 1; }},
      {"command", [](SandboxSpec& s) { s.command.clear(); }},
      {"key", [](SandboxSpec& s) { s.key.uid.clear(); }},
      {"mount", [](SandboxSpec& s) { s.mounts.push_back({MountKind::kVolume, "/", "/", false}); }},
      {"mount", [](SandboxSpec& s) { s.mounts.push_back({MountKind::kVolume, "/etc", "data", true}); }},
      {"mount", [](SandboxSpec& s) { s.mounts.push_back({MountKind::kVolume, "/etc", "/data/../proc", true}); }},
      {"mount", [](SandboxSpec& s) { s.mounts.push_back({MountKind::kVolume, "/etc", "/proc/sys", true}); }},
      {"mount", [](SandboxSpec& s) { s.mounts.push_back({MountKind::kVolume, "/etc", "/workspace", true}); }},
      {"mount", [](SandboxSpec& s) { s.mounts.push_back({MountKind::kVolume, "relative", "/data", true}); }},
  };
  for (const auto& [field, spoil] : cases) {
    SandboxSpec spec = Spec();
    spoil(spec);
    const auto made = runtime().Create(spec);
    ASSERT_FALSE(made.has_value()) << field;
    EXPECT_EQ(made.error().code, Code::kInvalid) << made.error().message;
    EXPECT_NE(made.error().message.find(field), std::string::npos) << made.error().message;
  }
}

}  // namespace beige::runtime
