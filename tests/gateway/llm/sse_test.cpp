#include "gateway/llm/sse.h"

#include <gtest/gtest.h>

#include <vector>

namespace beige::llm {
namespace {
std::vector<std::string> Read(SseParser& parser, const std::string& text) {
  std::vector<std::string> events;
  const auto add = [&](std::string_view name, std::string_view data) { events.push_back(std::string(name) + "|" + std::string(data)); };
  EXPECT_TRUE(parser.Feed(text, add));
  parser.End(add);
  return events;
}
std::vector<std::string> Read(const std::string& text) {
  SseParser parser;
  return Read(parser, text);
}
using Events = std::vector<std::string>;
}  // namespace

TEST(SseParserTest, FieldsAreReadAsTheStandardSays) {
  EXPECT_EQ(Read("data: a\n\n"), Events{"|a"});
  EXPECT_EQ(Read("data:a\n\n"), Events{"|a"});
  EXPECT_EQ(Read("data:  a\n\n"), Events{"| a"});
  EXPECT_EQ(Read("event: x\ndata: a\ndata: b\n\n"), Events{"x|a\nb"});
  EXPECT_EQ(Read("event: x\n\ndata: a\n\n"), Events{"|a"});
  EXPECT_EQ(Read("id: 1\nretry: 5\nunknown: z\ndata: a\n\n"), Events{"|a"});
  EXPECT_EQ(Read("data: a:b\n\n"), Events{"|a:b"});
}

TEST(SseParserTest, CommentsAndEmptyDataAreNoEvents) {
  EXPECT_EQ(Read(": ping\n\n:\n\ndata\n\ndata:\n\n"), Events{});
}

TEST(SseParserTest, HalfALineAtTheEndIsDropped) {
  EXPECT_EQ(Read("data: a\n\ndata: b"), Events{"|a"});
  EXPECT_EQ(Read("data: a\n\ndata: b\n"), (Events{"|a", "|b"}));
}

TEST(SseParserTest, TellsStreamsFromOtherTexts) {
  SseParser page;
  EXPECT_EQ(Read(page, "<html>\n<body>hello</body>\n\n"), Events{});
  EXPECT_FALSE(page.saw_anything());
  SseParser stream;
  EXPECT_EQ(Read(stream, ": hello\n\n"), Events{});
  EXPECT_TRUE(stream.saw_anything());
}

TEST(SseParserTest, IsBounded) {
  SseParser parser(100);
  const auto ignore = [](std::string_view, std::string_view) {};
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(parser.Feed("data: 0123456789\n\n", ignore));  // each small
  EXPECT_FALSE(parser.Feed("data: " + std::string(100, 'x'), ignore));
  SseParser lines(100);
  bool fits = true;
  for (int i = 0; i < 20; ++i) fits = fits && lines.Feed("data: 0123456789\n", ignore);
  EXPECT_FALSE(fits) << "many lines of one event";
}

}  // namespace beige::llm
