#include <gmock/gmock.h>

#include <fstream>

#include "home.h"

namespace beige::testing {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

std::string Record(const std::string& id, const std::string& agent, const std::string& event, const std::string& rest) {
  return R"({"v":1,"ts":"2026-11-29T12:00:00.123Z","seq":1,"id":")" + id + R"(","event":")" + event + R"(","namespace":"default","agent":")" + agent + "\"," + rest + "}\n";
}

class RecordsTest : public ::testing::Test {
 protected:
  RecordsTest() {
    home_.Write("logs/audit-20261128T000000Z.jsonl", Record("01OLD", "a1", "begin", R"("tool":"kv","args":["get","old"],"decision":"allow")"));
    home_.Write("logs/audit.jsonl", Record("01AAA", "a1", "begin", R"("tool":"kv","args":["get","x"],"decision":"allow")") +
                                        Record("01AAA", "a1", "end", R"("tool":"kv","outcome":"ok","durationUs":812,"exitCode":0,"signal":null)") +
                                        Record("01BBB", "a12", "begin", R"("tool":"git","args":[],"decision":"deny","reason":"not in tools")"));
  }
  void Append(const std::string& relative, const std::string& line) { std::ofstream(home_.path() + "/" + relative, std::ios::app) << line; }
  const Home home_;
};

TEST_F(RecordsTest, TailShowsTheLatestAlsoFromRotatedFiles) {
  const std::string all = home_.Beige({"audit", "tail"}).out;
  EXPECT_THAT(all, HasSubstr("get old"));
  EXPECT_THAT(all, HasSubstr("git: not in tools"));
  const std::string last = home_.Beige({"audit", "tail", "-n", "1"}).out;
  EXPECT_THAT(last, HasSubstr("01BBB"));
  EXPECT_THAT(last, Not(HasSubstr("01AAA")));
  const std::string one = home_.Beige({"audit", "tail", "--agent", "a1"}).out;
  EXPECT_THAT(one, Not(HasSubstr("01BBB")));
  EXPECT_THAT(one, HasSubstr("01AAA"));
  EXPECT_EQ(home_.Beige({"audit", "tail", "-n", "1", "-o", "json"}).out, Record("01BBB", "a12", "begin", R"("tool":"git","args":[],"decision":"deny","reason":"not in tools")"));
}

TEST_F(RecordsTest, TailFollows) {
  Program tail(home_.Command({"audit", "tail", "-f", "-n", "1"}));
  ASSERT_TRUE(tail.AwaitOutput("01BBB"));
  Append("logs/audit.jsonl", Record("01CCC", "a1", "begin", R"("tool":"kv","args":[],"decision":"allow")"));
  EXPECT_TRUE(tail.AwaitOutput("01CCC"));
}

TEST_F(RecordsTest, ShowGivesBothRecordsOfACall) {
  const Outcome show = home_.Beige({"audit", "show", "01AAA"});
  EXPECT_EQ(show.status, 0);
  EXPECT_THAT(show.out, HasSubstr("\"event\": \"begin\""));
  EXPECT_THAT(show.out, HasSubstr("\"durationUs\": 812"));
  EXPECT_EQ(home_.Beige({"audit", "show", "01OLD"}).status, 0);
  EXPECT_EQ(home_.Beige({"audit", "show", "01AA"}).status, 3);
}

TEST_F(RecordsTest, LogsAreOneStreamInOrderOfTime) {
  home_.Write("logs/beige-gateway.log", "{\"ts\":\"2026-11-29T12:00:02.000Z\",\"level\":\"info\",\"msg\":\"second\",\"agent\":\"default/a1\"}\nplain words of a crash\n");
  home_.Write("logs/beige-operator.log", "{\"ts\":\"2026-11-29T12:00:01.000Z\",\"level\":\"info\",\"msg\":\"first\",\"agent\":\"default/a12\"}\n");
  const std::string out = home_.Beige({"logs"}).out;
  EXPECT_LT(out.find("first"), out.find("second"));
  EXPECT_THAT(out, HasSubstr("plain words of a crash"));
  const std::string one = home_.Beige({"logs", "a1"}).out;
  EXPECT_THAT(one, HasSubstr("second"));
  EXPECT_THAT(one, Not(HasSubstr("first")));
  Program follow(home_.Command({"logs", "-f"}));
  ASSERT_TRUE(follow.AwaitOutput("plain words"));
  Append("logs/beige-operator.log", "{\"ts\":\"2026-11-29T12:00:03.000Z\",\"level\":\"warn\",\"msg\":\"third\"}\n");
  EXPECT_TRUE(follow.AwaitOutput("third"));
}

TEST_F(RecordsTest, EventsOfOneAgentAndWatched) {
  const std::string head = "{\"ts\":\"2026-11-29T12:00:00.000Z\",\"namespace\":\"default\",\"type\":\"Normal\",\"message\":\"m\",";
  home_.Write("data/operator/events/events.jsonl", head + "\"agent\":\"a1\",\"reason\":\"One\"}\n" + head + "\"agent\":\"a12\",\"reason\":\"Two\"}\n");
  EXPECT_THAT(home_.Beige({"events"}).out, HasSubstr("Two"));
  EXPECT_THAT(home_.Beige({"events", "a1"}).out, Not(HasSubstr("Two")));
  const Outcome nobody = home_.Beige({"events", "a3"});
  EXPECT_EQ(nobody.status, 3);
  EXPECT_THAT(nobody.err, HasSubstr("no such agent"));
  EXPECT_EQ(home_.Beige({"events", "a12"}).status, 0) << "its events are told though it is gone";
  Program watch(home_.Command({"events", "a1", "-w"}));
  ASSERT_TRUE(watch.AwaitOutput("One"));
  Append("data/operator/events/events.jsonl", head + "\"agent\":\"a1\",\"reason\":\"Three\"}\n");
  EXPECT_TRUE(watch.AwaitOutput("Three"));
}

}  // namespace
}  // namespace beige::testing
