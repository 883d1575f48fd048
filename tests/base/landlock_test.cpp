#include "base/landlock.h"

#include <gtest/gtest.h>

namespace beige {
namespace {

TEST(LandlockTest, EachVersionSaysWhatACellMissesWithIt) {
  EXPECT_EQ(LandlockLacks(6), "");
  EXPECT_EQ(LandlockLacks(7), "");
  for (const int old : {0, 2, 3, 5}) EXPECT_NE(LandlockLacks(old).find("abstract sockets"), std::string::npos) << old;
  EXPECT_EQ(LandlockLacks(5).find("ioctl"), std::string::npos);
  EXPECT_NE(LandlockLacks(4).find("ioctl"), std::string::npos);
  EXPECT_EQ(LandlockLacks(3).find("truncating"), std::string::npos);
  EXPECT_NE(LandlockLacks(2).find("truncating"), std::string::npos) << "Debian 12";
  EXPECT_NE(LandlockLacks(0).find("writing"), std::string::npos);
}

}  // namespace
}  // namespace beige
