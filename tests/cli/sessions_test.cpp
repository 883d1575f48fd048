#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "talker.h"

namespace beige::testing {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using nlohmann::json;

TEST(SessionsTest, AreListedNewestFirst) {
  const Talker talker;
  const Home& home = talker.home();
  const Outcome none = home.Beige({"sessions", "a1"});
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.err, "beige: sessions: no sessions; 'beige chat a1' begins one\n");
  home.Beige({"prompt", "a1", "hello"});
  EXPECT_EQ(home.Beige({"sessions", "new", "a1", "--model", "test/two"}).out, "session/S2 created\n");
  const Outcome table = home.Beige({"sessions", "a1"});
  EXPECT_THAT(table.out, MatchesRegex("ID   TITLE   TURNS   TOKENS   COST      UPDATED   STATE\n"
                                      "S2   -       0       0        -         [0-9]+[smhd] +idle\n"
                                      "S1   hello   1       2.0k     \\$0\\.0042   [0-9]+[smhd] +idle\n"));
  EXPECT_EQ(home.Beige({"sessions", "list", "a1", "-o", "name"}).out, "session/S2\nsession/S1\n");
  EXPECT_EQ(json::parse(home.Beige({"sessions", "a1", "-o", "json"}).out)["items"][1]["usage"]["output"], 34);
  EXPECT_THAT(home.Beige({"sessions", "a1", "-o", "yaml"}).out, HasSubstr("title: hello"));
  EXPECT_THAT(home.Beige({"sessions", "a1", "-o", "wide"}).out, HasSubstr("test/two"));
}

TEST(SessionsTest, ShowIsAConversationToRead) {
  const Talker talker;
  const Home& home = talker.home();
  home.Beige({"prompt", "a1", "work"});
  const Outcome show = home.Beige({"sessions", "show", "a1", "session/S1"});
  EXPECT_EQ(show.status, 0) << show.err;
  EXPECT_EQ(show.out,
            "work\nS1, test/one, 1 turn, 2.0k tokens, $0.0042\n\nyou  2026-11-29 12:00\n  work\n\ntest/one  2026-11-29 12:00\n  Hm.\n  I'll look.\n  > exec ls -la\n"
            "  file 0\n  file 1\n  file 2\n  file 3\n  file 4\n  file 5\n  file 6\n  file 7\n  file 8\n  file 9\n  file 10\n  file 11\n  ... 18 more lines\n"
            "  > patch notes.txt\n  @@ -1,2 +1,2 @@\n  -old line\n  +new line\n   kept\n  All done.\n");
  EXPECT_EQ(json::parse(home.Beige({"sessions", "show", "a1", "S1", "-o", "json"}).out)["messages"].size(), 7u);
  home.Beige({"sessions", "show", "a1", "S1", "--limit", "2"});
  EXPECT_EQ(talker.Requests("GET /v1/namespaces/default/agents/a1/sessions/S1?limit=2").size(), 1u);
}

TEST(SessionsTest, AreChangedByTheirId) {
  const Talker talker;
  const Home& home = talker.home();
  const std::string route = "/v1/namespaces/default/agents/a1/sessions/S1";
  home.Beige({"prompt", "a1", "hello"});
  EXPECT_EQ(home.Beige({"sessions", "model", "a1", "S1", "test/two", "--thinking", "low"}).out, "session/S1 answered by test/two, thinking low\n");
  EXPECT_THAT(talker.Requests("POST " + route + "/model"), ElementsAre(R"({"model":"test/two","thinkingLevel":"low"})"));
  EXPECT_EQ(home.Beige({"sessions", "abort", "a1", "S1"}).out, "session/S1 aborted\n");
  EXPECT_EQ(home.Beige({"sessions", "compact", "a1", "S1"}).out, "session/S1 compacted\n");
  EXPECT_EQ(home.Beige({"sessions", "delete", "a1", "S1"}).out, "session/S1 deleted\n");
  EXPECT_EQ(talker.Requests("DELETE " + route).size(), 1u);
  const Outcome gone = home.Beige({"sessions", "show", "a1", "S1"});
  EXPECT_EQ(gone.status, 3);
  EXPECT_EQ(gone.err, "beige: sessions show: the gateway answers: session S1: no such session of agent a1\n");
}

TEST(SessionsTest, ErrorsOfTheGatewayAreExitStatuses) {
  const Talker talker;
  const Home& home = talker.home();
  home.Beige({"sessions", "new", "a1"});
  EXPECT_EQ(home.Beige({"sessions", "compact", "a1", "S1"}).status, 1);
  const Outcome model = home.Beige({"sessions", "model", "a1", "S1", "other/x"});
  EXPECT_EQ(model.status, 2);
  EXPECT_THAT(model.err, HasSubstr("other/x: not one of the agent's choices"));
  const Outcome nobody = home.Beige({"sessions", "nobody"});
  EXPECT_EQ(nobody.status, 3) << nobody.err;
  const Outcome words = home.Beige({"sessions", "show", "a1", "S1", "S2"});
  EXPECT_EQ(words.status, 2);
  EXPECT_THAT(words.err, HasSubstr("S2"));
  EXPECT_EQ(home.Beige({"sessions"}).status, 2);
  home.Write("data/gateway/api-token", "another\n");
  const Outcome denied = home.Beige({"sessions", "a1"});
  EXPECT_EQ(denied.status, 4) << denied.err;
  EXPECT_THAT(denied.err, HasSubstr("is not one of them"));
}

}  // namespace
}  // namespace beige::testing
