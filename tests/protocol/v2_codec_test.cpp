#include "protocol/v2_codec.h"

#include <gtest/gtest.h>

namespace beige::v2 {
namespace {

using std::string_literals::operator""s;

TEST(PreambleTest, HasTheDocumentedBytes) {
  const std::string bytes = EncodePreamble({.min = 2, .max = 3, .role = BGE_ROLE_CONTROL, .features = 0x01020304});
  EXPECT_EQ(bytes, "BGE2\x02\x03\x02\x00\x04\x03\x02\x01\x00\x00\x00\x00"s);
  const auto back = DecodePreamble(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, (Preamble{2, 3, BGE_ROLE_CONTROL, 0x01020304}));
}

TEST(PreambleTest, RefusesOtherMagicAndLengths) {
  std::string bytes = EncodePreamble({});
  EXPECT_FALSE(DecodePreamble(bytes.substr(0, 15)));
  EXPECT_FALSE(DecodePreamble(bytes + "x"));
  bytes[3] = '1';
  EXPECT_FALSE(DecodePreamble(bytes));
}

TEST(PreambleTest, AnswersWithTheHighestCommonVersionOrNone) {
  const auto chosen = [](uint8_t min, uint8_t max) { return AnswerTo({.min = min, .max = max, .role = 1}).min; };
  EXPECT_EQ(chosen(2, 2), 2);
  EXPECT_EQ(chosen(1, 200), BGE_VERSION_MAX);
  EXPECT_EQ(chosen(1, 1), 0);
  EXPECT_EQ(chosen(3, 9), 0);
  EXPECT_EQ(chosen(0, 0), 0);
  EXPECT_EQ(AnswerTo({.min = 2, .max = 2, .role = 7, .features = 0xffffffff}), (Preamble{2, 2, 7, BGE_FEATURES}));
}

struct Seen {
  FrameHeader header;
  std::string payload;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> Drain(FrameReader& reader) {
  std::vector<Seen> out;
  for (;;) {
    const auto frame = reader.Next();
    if (!frame || !*frame) return out;
    out.push_back({(*frame)->header, std::string((*frame)->payload)});
  }
}

TEST(FrameTest, HasTheDocumentedBytes) {
  std::string bytes;
  AppendFrame(bytes, 0x0a0b0c0d, BGE_STDOUT, "hi");
  EXPECT_EQ(bytes, "\x02\x00\x00\x00\x0d\x0c\x0b\x0a\x04\x00\x00\x00hi"s);
}

TEST(FrameTest, SurvivesACutAtEveryPosition) {
  std::string bytes;
  AppendFrame(bytes, 1, BGE_CALL, "");
  AppendFrame(bytes, 2, BGE_STDOUT, "\0\xff\n"s);
  AppendWindow(bytes, 3, 2, 65536);
  AppendFrame(bytes, 0xffffffff, BGE_EXIT, EncodeExit({BGE_HOW_SIGNALED, 9, "killed"}));
  FrameReader whole;
  whole.Feed(bytes);
  const std::vector<Seen> want = Drain(whole);
  ASSERT_EQ(want.size(), 4u);
  EXPECT_EQ(want[1].payload, "\0\xff\n"s);
  EXPECT_EQ(want[2].header.stream, 2);
  EXPECT_EQ(DecodeWindow(want[2].payload).value(), 65536u);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    FrameReader reader;
    reader.Feed(std::string_view(bytes).substr(0, cut));
    std::vector<Seen> got = Drain(reader);
    reader.Feed(std::string_view(bytes).substr(cut));
    for (Seen& seen : Drain(reader)) got.push_back(std::move(seen));
    EXPECT_EQ(got, want) << "cut at " << cut;
    EXPECT_EQ(reader.buffered(), 0u);
  }
}

TEST(FrameTest, SurvivesBytesThatComeOneByOne) {
  std::string bytes;
  for (uint32_t i = 0; i < 20; ++i) AppendFrame(bytes, i, BGE_STDIN, std::string(i, 'x'));
  FrameReader reader;
  std::vector<Seen> got;
  for (const char byte : bytes) {
    reader.Feed(std::string_view(&byte, 1));
    for (Seen& seen : Drain(reader)) got.push_back(std::move(seen));
  }
  ASSERT_EQ(got.size(), 20u);
  EXPECT_EQ(got[19].payload, std::string(19, 'x'));
}

TEST(FrameTest, RefusesAnAnnouncedLengthBeyondTheLimitAtOnceAndForGood) {
  FrameReader reader(100);
  std::string bytes;
  AppendFrame(bytes, 1, BGE_STDOUT, std::string(101, 'x'));
  reader.Feed(bytes.substr(0, BGE_HEADER_BYTES));
  ASSERT_FALSE(reader.Next());
  reader.Feed(bytes.substr(BGE_HEADER_BYTES));
  EXPECT_FALSE(reader.Next());
  FrameReader exact(101);
  exact.Feed(bytes);
  EXPECT_EQ(Drain(exact).size(), 1u);
  FrameReader huge;
  huge.Feed("\xff\xff\xff\xff\x00\x00\x00\x00\x01\x00\x00\x00"s);
  EXPECT_EQ(huge.Next().error().code, Code::kInvalid);
}

TEST(FieldTest, KeepsOrderRepeatsAndEmptyValues) {
  std::string bytes;
  AppendField(bytes, BGE_TAG_ARG, "a");
  AppendField(bytes, BGE_TAG_ARG, "");
  AppendU32Field(bytes, BGE_TAG_FLAGS, 0x80000001);
  AppendField(bytes, BGE_TAG_ARG, "\0b"s);
  AppendField(bytes, 200, "a later version's");
  const auto fields = DecodeFields(bytes);
  ASSERT_TRUE(fields);
  ASSERT_EQ(fields->size(), 5u);
  EXPECT_EQ((*fields)[1].value, "");
  EXPECT_EQ(FieldU32((*fields)[2].value).value(), 0x80000001u);
  EXPECT_EQ((*fields)[3].value, "\0b"s);
  EXPECT_EQ((*fields)[4].tag, 200);
}

TEST(FieldTest, EveryCutIsEitherWholeFieldsOrAnError) {
  std::string bytes;
  AppendField(bytes, 1, "ab");
  AppendField(bytes, 2, "cde");
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    const auto fields = DecodeFields(std::string_view(bytes).substr(0, cut));
    const bool boundary = cut == 0 || cut == 7 || cut == bytes.size();
    EXPECT_EQ(fields.has_value(), boundary) << cut;
  }
  EXPECT_FALSE(DecodeFields("\x01\xff\xff\xff\xff"s));
  EXPECT_FALSE(FieldU32("abc"));
  EXPECT_FALSE(FieldU32("abcde"));
}

TEST(ExitTest, RoundTripsNegativeCodesAndText) {
  for (const Exit& exit : {Exit{BGE_HOW_EXITED, 0, ""}, Exit{BGE_HOW_SIGNALED, 15, ""}, Exit{BGE_HOW_DENIED, 126, "denied by policy"}, Exit{255, -1, "\0"s}}) {
    const auto back = DecodeExit(EncodeExit(exit));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, exit);
  }
  EXPECT_FALSE(DecodeExit("\0\0\0\0"s));
}

TEST(SizeTest, RoundTrips) {
  const auto back = DecodeSize(EncodeSize({65535, 1}));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, (TerminalSize{65535, 1}));
  EXPECT_FALSE(DecodeSize("abc"));
}

}  // namespace
}  // namespace beige::v2
