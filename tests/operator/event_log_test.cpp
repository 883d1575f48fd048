#include "operator/store/event_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/operator/temp_dir.h"

namespace beige {
namespace {
using testing::TempDir;
const AgentKey kOne{"default", "one"};

size_t Lines(const std::string& file) {
  const auto text = ReadFile(file);
  return text ? static_cast<size_t>(std::count(text->begin(), text->end(), '\n')) : 0;
}

TEST(EventLogTest, OneLineIsOneJsonObjectWithTheNamesOfTheSurface) {
  TempDir home;
  HomePaths paths(home.path());
  ManualClock clock;
  EventLog log(paths, clock);
  log.Record(kOne, EventType::kWarning, "ImageMissing", "a \"quoted\"\nline \xff");
  const auto event = nlohmann::json::parse(*ReadFile(paths.EventsFile()));
  EXPECT_EQ(event["ts"], FormatTime(clock.WallNow()));
  EXPECT_EQ(event["namespace"], "default");
  EXPECT_EQ(event["agent"], "one");
  EXPECT_EQ(event["type"], "Warning");
  EXPECT_EQ(event["reason"], "ImageMissing");
  EXPECT_EQ(Lines(paths.EventsFile()), 1u);
}

TEST(EventLogTest, TheSameEventIsWrittenOnceAMinuteAndAStormIsCut) {
  TempDir home;
  HomePaths paths(home.path());
  ManualClock clock;
  EventLog log(paths, clock);
  for (int i = 0; i < 10; ++i) log.Record(kOne, EventType::kNormal, "Started", "x");
  EXPECT_EQ(Lines(paths.EventsFile()), 1u);
  clock.Advance(EventLog::kQuiet);
  log.Record(kOne, EventType::kNormal, "Started", "x");
  EXPECT_EQ(Lines(paths.EventsFile()), 2u);
  for (int i = 0; i < 500; ++i) log.Record(kOne, EventType::kNormal, "Started", std::to_string(i));
  EXPECT_EQ(Lines(paths.EventsFile()), 2u + EventLog::kBurst - 1);
  log.Record({"default", "two"}, EventType::kNormal, "Started", "x");
  EXPECT_EQ(Lines(paths.EventsFile()), 2u + EventLog::kBurst) << "another agent is not cut";
}

TEST(EventLogTest, TheFileIsBoundedAndOneOldOneIsKept) {
  TempDir home;
  HomePaths paths(home.path());
  ManualClock clock;
  EventLog log(paths, clock, 2000);
  for (int i = 0; i < 100; ++i) {
    clock.Advance(std::chrono::minutes(2));
    log.Record(kOne, EventType::kNormal, "Started", std::string(100, 'x') + std::to_string(i));
  }
  EXPECT_LE(ReadFile(paths.EventsFile())->size(), 2000u);
  EXPECT_LE(ReadFile(paths.EventsFile() + ".1")->size(), 2000u);
  EXPECT_FALSE(Exists(paths.EventsFile() + ".2"));
  EXPECT_NE(ReadFile(paths.EventsFile())->find("99"), std::string::npos);
}

}  // namespace
}  // namespace beige
