#include "gateway/http/turn_filter.h"

#include <gtest/gtest.h>

#include "gateway/http/session_stream.h"

namespace beige {
namespace {
sessions::Event Make(std::string_view name, std::string prompt, std::string data = "{}", bool ends = false) { return {"1-1", name, std::move(data), std::move(prompt), ends}; }
}  // namespace

TEST(TurnFilterTest, TheTurnBeforeIsAnothersAndTheOwnOneEndsTheStream) {
  TurnFilter filter;
  filter.SetPrompt("p2");
  EXPECT_FALSE(filter.Wants(Make("text", "p1")));
  EXPECT_FALSE(filter.Wants(Make("done", "p1", "{}", true)));
  EXPECT_TRUE(filter.Wants(Make("turn", "p2")));
  EXPECT_TRUE(filter.Wants(Make("text", "p2")));
  EXPECT_FALSE(filter.Ends(Make("text", "p2")));
  EXPECT_FALSE(filter.Wants(Make("aborted", "p3", "{}", true)));
  EXPECT_TRUE(filter.Wants(Make("done", "p2", "{}", true)));
  EXPECT_TRUE(filter.Ends(Make("done", "p2", "{}", true)));
}

TEST(TurnFilterTest, APromptThatIsTakenBackBeforeItsTurnEndsToo) {
  TurnFilter filter;
  filter.SetPrompt("p2");
  EXPECT_TRUE(filter.Wants(Make("aborted", "p2", "{}", true)));
  EXPECT_TRUE(filter.Ends(Make("aborted", "p2", "{}", true)));
}

TEST(TurnFilterTest, ASteeredPromptFollowsTheTurnThatItWasToldTo) {
  TurnFilter filter;
  filter.SetPrompt("p2");
  EXPECT_FALSE(filter.Wants(Make("text", "p1")));
  EXPECT_FALSE(filter.Wants(Make("steer", "p1", R"({"prompt":"p9"})"))) << "another's";
  EXPECT_FALSE(filter.Wants(Make("text", "p1", R"({"text":"\"prompt\":\"p2\""})")));
  EXPECT_TRUE(filter.Wants(Make("steer", "p1", R"({"prompt":"p2","text":"wait","actor":"o"})")));
  EXPECT_TRUE(filter.Wants(Make("text", "p1")));
  EXPECT_FALSE(filter.Wants(Make("aborted", "p5", "{}", true)));
  EXPECT_TRUE(filter.Wants(Make("done", "p1", "{}", true)));
  EXPECT_TRUE(filter.Ends(Make("done", "p1", "{}", true)));
}

TEST(SseTest, AnEventIsThreeLines) {
  std::string out;
  AppendSse(out, {"3-7", "text", R"({"text":"a\nb"})", "p", false});
  EXPECT_EQ(out, "id: 3-7\nevent: text\ndata: {\"text\":\"a\\nb\"}\n\n");
  EXPECT_EQ(Sse("accepted", "{}"), "event: accepted\ndata: {}\n\n");
}

TEST(SseTest, AnErrorOfSessionsNamesTheFieldThatItBeginsWith) {
  EXPECT_NE(SessionError({Code::kInvalid, "model: no such choice"}).body.find(R"("field":"model")"), std::string::npos);
  EXPECT_EQ(SessionError({Code::kInvalid, "no such thing: model"}).body.find("field"), std::string::npos);
  EXPECT_EQ(SessionError({Code::kNotFound, "session: not there"}).status, 404);
}

}  // namespace beige
