#include "cli/chat/turn_view.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/chat/follow_turn.h"
#include "cli/report.h"

namespace beige::cli {
namespace {
using ::testing::ElementsAre;
using Kind = SessionEvent::Kind;

SessionEvent Event(std::string_view name, std::string_view data) { return ReadSessionEvent(name, data); }

// What a terminal without colours holds after these events.
std::string Shown(const std::vector<std::pair<std::string, std::string>>& events, ViewStyle style = {}) {
  TurnView view(style);
  std::string out;
  for (const auto& [name, data] : events) out += view.On(Event(name, data));
  return out + view.Close();
}

TEST(TerminalTextTest, IsTheSameHoweverItIsCut) {
  const std::string text = "a\tä €\xf0\x9f\x98\x80 \x1b[1m\xc2\x9b \r\nb\rc \xe2\x80\xae\n\x7f";
  const std::string whole = ForTerminal(text);
  EXPECT_EQ(whole, "a\tä €\xf0\x9f\x98\x80 \\x1b[1m\\xc2\\x9b \nb\nc \\u202e\n\\x7f");
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    for (size_t second = cut; second <= text.size(); ++second) {
      TerminalText pieces;
      std::string out = pieces.Feed(text.substr(0, cut));
      out += pieces.Feed(text.substr(cut, second - cut));
      out += pieces.Feed(text.substr(second));
      ASSERT_EQ(out + pieces.End(), whole) << cut << " " << second;
    }
  }
}

TEST(TurnViewTest, ACallIsOneLineWhateverItsArgumentsHold) {
  const std::string shown = Shown({{"call", R"({"id":"c","name":"exec","arguments":{"command":"true #\r  [exit code 0]\r\n> read\tx"}})"}});
  EXPECT_EQ(shown, "> exec true #   [exit code 0]  > read x\n");
}

TEST(TerminalTextTest, CountsAreShort) {
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1000), "1.0k");
  EXPECT_EQ(CountText(234'567), "235k");
  EXPECT_EQ(CountText(12'345'678), "12.3M");
  EXPECT_EQ(CostText(0), "");
  EXPECT_EQ(CostText(0.00421), "$0.0042");
  EXPECT_EQ(CostText(12.345), "$12.35");
  EXPECT_EQ(Cut("wörter", 5), "wö...");
  EXPECT_EQ(Cut("wörter", 6), "wörter");
}

TEST(EventStreamTest, ReadsEventsHoweverTheyAreCut) {
  const std::string bytes = ": hi\n\nid: 1-1\nevent: text\ndata: {\"text\":\"a\"}\n\nevent: done\r\ndata: {}\r\n\r\nevent: lost\ndata: {";
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    EventStream stream;
    std::vector<std::string> seen;
    const auto take = [&](std::string_view name, std::string_view data) { seen.push_back(std::string(name) + " " + std::string(data)); };
    stream.Feed(bytes.substr(0, cut), take);
    stream.Feed(bytes.substr(cut), take);
    ASSERT_THAT(seen, ElementsAre("text {\"text\":\"a\"}", "done {}")) << cut;
  }
}

TEST(SessionEventTest, ACallIsOneLine) {
  const auto call = [](const char* name, const char* arguments) { return CallText(name, nlohmann::ordered_json::parse(arguments)); };
  EXPECT_EQ(call("exec", R"({"command":"ls -la"})"), "exec ls -la");
  EXPECT_EQ(call("read", R"({"path":"a.txt","offset":40})"), "read a.txt from line 40");
  EXPECT_EQ(call("write", R"({"path":"a.txt","content":"12345"})"), "write a.txt (5 bytes)");
  EXPECT_EQ(call("patch", R"({"path":"a.txt","oldText":"x","newText":"y"})"), "patch a.txt");
  EXPECT_EQ(call("kv", R"({"args":["set","a"],"stdin":"12345"})"), "kv set a < 5 bytes");
  EXPECT_EQ(call("other", R"({"deep":{"a":[1]}})"), R"(other {"deep":{"a":[1]}})");
  EXPECT_EQ(call("exec", "[]"), "exec");
}

TEST(SessionEventTest, WhatIsNotAnEventIsNone) {
  EXPECT_EQ(Event("text", "not json").kind, Kind::kOther);
  EXPECT_EQ(Event("future", "{}").kind, Kind::kOther);
  EXPECT_EQ(Event("text", R"({"text":7})").text, "");
  EXPECT_EQ(Event("usage", R"({"input":"many","output":3})").usage.output, 3);
}

TEST(TurnViewTest, PartsAreSetOff) {
  EXPECT_EQ(Shown({{"thinking", R"({"text":"hm"})"}, {"text", R"({"text":"\n\nI look."})"}, {"call", R"({"id":"1","name":"exec","arguments":{"command":"ls"}})"},
                   {"output", R"({"id":"1","stream":"stdout","text":"a\nb"})"}, {"result", R"({"id":"1","name":"exec","error":false,"text":"a\nb"})"},
                   {"text", R"({"text":"Two files."})"}, {"done", R"({"stop":"end"})"}}),
            "hm\n\nI look.\n\n> exec ls\n  a\n  b\n\nTwo files.\n");
}

TEST(TurnViewTest, OutputIsBoundedAndTheRestCounted) {
  std::string lines;
  for (int i = 0; i < 25; ++i) lines += "line\\n";
  const std::string shown = Shown({{"call", R"({"id":"1","name":"exec","arguments":{"command":"yes"}})"}, {"output", R"({"id":"1","text":")" + lines + R"("})"},
                                   {"result", R"({"id":"1","name":"exec","error":true,"text":"line\nexit status 1"})"}},
                                  {.output_lines = 3});
  EXPECT_EQ(shown, "> exec yes\n  line\n  line\n  line\n  ... 22 more lines\n  exit status 1\n");
  const std::string wide = Shown({{"call", R"({"id":"1","name":"exec","arguments":{}})"}, {"output", R"({"id":"1","text":")" + std::string(100'000, 'x') + R"(\n"})"}}, {.width = 20});
  EXPECT_EQ(wide, "> exec\n  xxxxxxxxxxxxxx...\n");
}

TEST(TurnViewTest, CallsSideBySideAreToldApart) {
  EXPECT_EQ(Shown({{"call", R"({"id":"1","name":"exec","arguments":{"command":"one"}})"}, {"call", R"({"id":"2","name":"exec","arguments":{"command":"two"}})"},
                   {"output", R"({"id":"1","text":"of one\n"})"}, {"output", R"({"id":"2","text":"of two\n"})"}, {"output", R"({"id":"2","text":"more of two\n"})"}}),
            "> exec one\n> exec two\n  [exec one]\n  of one\n  [exec two]\n  of two\n  more of two\n");
}

TEST(TurnViewTest, AnotherModelThatAnswersIsNamed) {
  TurnView view({});
  view.SetModel("a/one");
  EXPECT_EQ(view.On(Event("model", R"({"model":"a/one"})")), "");
  EXPECT_EQ(view.On(Event("model", R"({"model":"b/two"})")), "  b/two answers\n");
}

TEST(TurnViewTest, ALineThatIsWrittenOverIsGoneBeforeTheNext) {
  EXPECT_EQ(Shown({{"writing", R"({"index":0,"name":"write","bytes":2048})"}, {"writing", R"({"index":0,"name":"write","bytes":4096})"},
                   {"call", R"({"id":"1","name":"write","arguments":{"path":"a","content":"x"}})"}},
                  {.live = true}),
            "  writes write... 2.0 KB\r\x1b[K  writes write... 4.1 KB\r\x1b[K> write a (1 bytes)\n");
  EXPECT_EQ(Shown({{"writing", R"({"index":0,"name":"write","bytes":2048})"}}), "");
}

TEST(TurnViewTest, EndsThatAreNotTheUsualOnesAreSaid) {
  EXPECT_EQ(Shown({{"text", R"({"text":"half"})"}, {"done", R"({"stop":"max_steps"})"}}).substr(0, 6), "half\n\n");
  EXPECT_EQ(Shown({{"aborted", "{}"}}), "  aborted\n");
  EXPECT_EQ(Shown({{"error", R"({"code":"cooling","message":"all models rest","retryAfterMs":61500})"}}), "  cooling: all models rest; try again in 1m2s\n");
  EXPECT_EQ(Shown({{"accepted", R"({"session":"S","prompt":"P","ahead":2})"}}), "  2 prompts are answered first\n");
}

TEST(FollowTurnTest, ErrorsThatMayPassAreUnavailable) {
  EXPECT_EQ(StatusOfTurnError("cooling"), kUnavailable);
  EXPECT_EQ(StatusOfTurnError("denied"), kDenied);
  EXPECT_EQ(StatusOfTurnError("context_length"), kFailed);
}

}  // namespace
}  // namespace beige::cli
