#include "api/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beige {
namespace {

using testing::HasSubstr;

TEST(QuantityTest, ReadsCores) {
  const std::pair<const char*, int64_t> cases[] = {{"1", 1000}, {"0.5", 500}, {"500m", 500}, {"2", 2000}, {"1.25", 1250}, {"10m", 10}, {"1024", 1024000}, {"0.01", 10}, {"1.0001", 1001}};
  for (const auto& [text, want] : cases) EXPECT_EQ(ParseCpu(text).value(), want) << text;
  for (const char* text : {"", "0", "9m", "1025", "-1", "+1", "1.", ".5", "1.5m.", "m", "1 ", "1e3", "0x1", "1Gi", "99999999999999999999999999999999", "1..5"}) EXPECT_FALSE(ParseCpu(text)) << text;
}

TEST(QuantityTest, ReadsBytesFarBeyond4GiB) {
  const std::pair<const char*, int64_t> cases[] = {{"16Mi", 16 << 20},          {"1.5Gi", 3LL << 29},        {"5Gi", 5LL << 30},     {"64Ti", 64LL << 40},  {"512M", 512'000'000},
                                                   {"2G", 2'000'000'000},       {"16777216", 16 << 20},      {"20000k", 20'000'000}, {"20000Ki", 20480000}, {"1.1Gi", 1181116007},
                                                   {"0.5Ti", 512LL << 30}};
  for (const auto& [text, want] : cases) EXPECT_EQ(ParseMemory(text).value(), want) << text;
  for (const char* text : {"", "0", "15Mi", "65Ti", "-1Gi", "1.Gi", "Gi", "1 Gi", "1e9", "1K", "1KB", "1gi", "99999999999999999999Ti", "1Ei", "0x10000000", "1.5.5Gi"}) EXPECT_FALSE(ParseMemory(text)) << text;
}

TEST(QuantityTest, SaysWhatWasProbablyMeant) {
  EXPECT_THAT(ParseMemory("512m").error().message, HasSubstr("did you mean \"512Mi\"?"));
  EXPECT_THAT(ParseMemory("3g").error().message, HasSubstr("did you mean \"3Gi\"?"));
  EXPECT_THAT(ParseMemory("2GB").error().message, HasSubstr("did you mean \"2Gi\"?"));
  EXPECT_THAT(ParseMemory("2GiB").error().message, HasSubstr("did you mean \"2Gi\"?"));
  EXPECT_THAT(ParseMemory("fast").error().message, testing::Not(HasSubstr("did you mean")));
}

TEST(QuantityTest, WritesTheShortestFormThatReadsBack) {
  EXPECT_EQ(FormatCpu(2000), "2");
  EXPECT_EQ(FormatCpu(1500), "1500m");
  EXPECT_EQ(FormatBytes(2LL << 30), "2Gi");
  EXPECT_EQ(FormatBytes(3LL << 29), "1536Mi");
  EXPECT_EQ(FormatBytes(2'000'000'000), "1953125Ki");
  EXPECT_EQ(FormatBytes(1181116007), "1181116007");
  for (const int64_t bytes : {16LL << 20, (16LL << 20) + 1, 5LL << 30, 64LL << 40}) EXPECT_EQ(ParseMemory(FormatBytes(bytes)).value(), bytes);
}

}  // namespace
}  // namespace beige
