#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/gateway/llm/streams.h"

namespace beige::llm {
namespace {
using ::testing::Contains;
using ::testing::StartsWith;

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

bool IsEnd(const std::string& event) { return event.starts_with("stopped ") || event.starts_with("failed "); }

// Not a parameter of the test program: that would be a process for each of them.
void ForEachStream(const std::function<void(const Stream&)>& test) {
  for (const Stream& stream : Streams()) {
    SCOPED_TRACE(stream.name);
    test(stream);
  }
}
}  // namespace

TEST(StreamTest, IsRead) {
  ForEachStream([](const Stream& stream) { EXPECT_EQ(EventsOf(stream.api, {stream.bytes}), stream.events); });
}

TEST(StreamTest, MeansTheSameHoweverItIsCut) {
  ForEachStream([](const Stream& stream) {
    const std::string& bytes = stream.bytes;
    for (size_t i = 0; i <= bytes.size(); ++i) {
      ASSERT_EQ(EventsOf(stream.api, {bytes.substr(0, i), bytes.substr(i)}), stream.events) << "cut at " << i;
    }
    std::vector<std::string> single;
    for (const char c : bytes) single.emplace_back(1, c);
    EXPECT_EQ(EventsOf(stream.api, single), stream.events);
  });
}

TEST(StreamTest, MeansTheSameWithEveryLineEnd) {
  ForEachStream([](const Stream& stream) {
    const std::string lf = Replaced(stream.bytes, "\r\n", "\n");
    EXPECT_EQ(EventsOf(stream.api, {lf}), stream.events);
    const std::string crlf = Replaced(lf, "\n", "\r\n");
    EXPECT_EQ(EventsOf(stream.api, {crlf}), stream.events);
    for (size_t i = 0; i <= crlf.size(); i += 3) ASSERT_EQ(EventsOf(stream.api, {crlf.substr(0, i), crlf.substr(i)}), stream.events) << i;
    EXPECT_EQ(EventsOf(stream.api, {Replaced(lf, "\n", "\r")}), stream.events);
    EXPECT_EQ(EventsOf(stream.api, {"\xEF\xBB\xBF" + lf}), stream.events);
  });
}

// Whatever is missing at the end: one end, and no call is run unless everything that says it is whole had come.
TEST(StreamTest, CutOffAnywhereEndsOnceAndRunsNoCutCall) {
  ForEachStream([](const Stream& stream) {
    const std::string& bytes = stream.bytes;
    const auto runs = [](const std::vector<std::string>& events) {
      return std::count_if(events.begin(), events.end(), [](const std::string& e) { return e.starts_with("run "); });
    };
    const auto all = runs(stream.events);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const auto events = EventsOf(stream.api, {bytes.substr(0, i)});
      ASSERT_EQ(std::count_if(events.begin(), events.end(), IsEnd), 1) << i;
      ASSERT_TRUE(IsEnd(events.back())) << i;
      const auto run = runs(events);
      ASSERT_TRUE(run == 0 || (run == all && events.back().starts_with("stopped "))) << i;
      ASSERT_TRUE(run > 0 || all == 0 || events.back().starts_with("failed ")) << i;
    }
  });
}

TEST(StreamTest, NothingFollowsTheEnd) {
  ForEachStream([](const Stream& stream) {
    std::vector<std::string> events;
    Decoder decoder(stream.api, [&](const Event& event) { events.push_back(Describe(event)); });
    decoder.Feed(stream.bytes);
    decoder.End();
    decoder.Feed(stream.bytes);
    decoder.End();
    decoder.Break({ErrorClass::kNetwork, "late"});
    EXPECT_EQ(events, stream.events);
  });
}

TEST(DecoderTest, BreakFailsAnAnswerThatHasNotEnded) {
  std::vector<std::string> events;
  Decoder decoder(LlmApi::kOpenAiCompletions, [&](const Event& event) { events.push_back(Describe(event)); });
  decoder.Feed("data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n");
  decoder.Break({ErrorClass::kNetwork, "gone"});
  EXPECT_EQ(events, (std::vector<std::string>{"started c ", "text a", "failed network: gone"}));
  EXPECT_TRUE(decoder.ended());
}

TEST(DecoderTest, BreakAfterTheReasonToStopLosesNothing) {
  std::vector<std::string> events;
  Decoder decoder(LlmApi::kOpenAiCompletions, [&](const Event& event) { events.push_back(Describe(event)); });
  decoder.Feed("data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n");
  decoder.Break({ErrorClass::kNetwork, "gone"});
  EXPECT_EQ(events.back(), "stopped end stop");
}

TEST(DecoderTest, EndlessEventIsRefusedAndNotKept) {
  std::vector<std::string> events;
  Decoder decoder(LlmApi::kOpenAiCompletions, [&](const Event& event) { events.push_back(Describe(event)); });
  decoder.Feed("data: ");
  const std::string block(1 << 20, 'x');
  for (int i = 0; i < 9; ++i) decoder.Feed(block);
  EXPECT_EQ(events, std::vector<std::string>{"failed protocol: one event of the stream is larger than 8 MiB"});
}

TEST(DecoderTest, AnswerThatNeverEndsIsBounded) {
  std::vector<std::string> events;
  Decoder decoder(LlmApi::kOpenAiCompletions, [&](const Event& event) {
    if (!std::holds_alternative<TextDelta>(event)) events.push_back(Describe(event));
  });
  const std::string delta = "data: {\"choices\":[{\"delta\":{\"content\":\"" + std::string(1 << 20, 'x') + "\"}}]}\n\n";
  for (int i = 0; i < 33; ++i) decoder.Feed(delta);
  EXPECT_EQ(events, (std::vector<std::string>{"started  ", "failed protocol: the answer is larger than 32 MiB"}));
}

TEST(DecoderTest, MoreCallsThanAnybodyNeedsAreRefused) {
  std::string calls;
  for (int i = 0; i < 200; ++i) calls += std::string(i > 0 ? "," : "") + "{\"index\":" + std::to_string(i) + ",\"id\":\"c" + std::to_string(i) + "\",\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}}";
  const auto events = EventsOf(LlmApi::kOpenAiCompletions, {"data: {\"choices\":[{\"delta\":{\"tool_calls\":[" + calls + "]},\"finish_reason\":\"tool_calls\"}]}\n\n"});
  EXPECT_EQ(events.back(), "failed protocol: more than 128 tool calls in one answer");
  EXPECT_THAT(events, Not(Contains(StartsWith("run "))));
}

TEST(DecoderTest, SignaturesAreCountedAndOnlyThoseOfThoughtsKept) {
  std::vector<std::string> events;
  Decoder decoder(LlmApi::kAnthropicMessages, [&](const Event& event) { events.push_back(Describe(event)); });
  decoder.Feed("data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n");
  const auto delta = [&](int index) {
    decoder.Feed("data: {\"type\":\"content_block_delta\",\"index\":" + std::to_string(index) + ",\"delta\":{\"type\":\"signature_delta\",\"signature\":\"" +
                 std::string(1 << 20, 's') + "\"}}\n\n");
  };
  for (int i = 1; i < 4; ++i) delta(i);
  EXPECT_FALSE(decoder.ended());
  for (int i = 0; i < 33; ++i) delta(0);
  EXPECT_EQ(events.back(), "failed protocol: the answer is larger than 32 MiB");
}

TEST(DecoderTest, FiguresOfUsageAreBounded) {
  const auto events = EventsOf(LlmApi::kOpenAiCompletions, {"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}],"
                                                           "\"usage\":{\"prompt_tokens\":9223372036854775807,\"completion_tokens\":-5}}\n\ndata: [DONE]\n\n"});
  EXPECT_THAT(events, Contains("usage 1000000000000+0+0 -> 0 (0)"));
}

TEST(DecoderTest, ACallOfANameThatNoToolCanHaveIsBroken) {
  for (const std::string& name : {std::string("functions.exec<|x|>"), std::string(65, 'n'), std::string("a b"), std::string("\xc3\xbc")}) {
    const auto events = EventsOf(LlmApi::kOpenAiCompletions, {"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"" + name +
                                                             "\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n"});
    EXPECT_THAT(events, Contains(StartsWith("broken 0 c "))) << name;
    EXPECT_THAT(events, Not(Contains(StartsWith("run ")))) << name;
  }
}

TEST(DecoderTest, DeepNestingDoesNotExhaustTheStack) {
  const std::string deep(200'000, '[');
  const std::string ends(200'000, ']');
  const auto events = EventsOf(LlmApi::kOpenAiCompletions, {"data: {\"a\":" + deep + ends + "}\n\n"});
  EXPECT_THAT(events.back(), StartsWith("failed "));
}

}  // namespace beige::llm
