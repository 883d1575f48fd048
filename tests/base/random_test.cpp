#include "base/random.h"

#include <gtest/gtest.h>

#include <set>

#include "base/secret.h"

namespace beige {
namespace {

TEST(RandomTest, IdsHaveTheirShapeAndAreDifferent) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.insert(RandomUuid());
    seen.insert(RandomUlid());
    seen.insert(RandomToken());
  }
  EXPECT_EQ(seen.size(), 3000u);
  const std::string uuid = RandomUuid();
  EXPECT_EQ(uuid.size(), 36u);
  EXPECT_EQ(uuid[14], '4');
  EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos);
  EXPECT_EQ(RandomUlid().size(), 26u);
  EXPECT_EQ(RandomToken().size(), 43u);
  EXPECT_EQ(RandomToken().find_first_of("+/="), std::string::npos);
}

TEST(HashTest, AgreesWithPublishedValues) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Base64Encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64Encode("fooba"), "Zm9vYmE=");
  EXPECT_EQ(Base64Encode(""), "");
  EXPECT_EQ(HexEncode(std::string("\x00\xff", 2)), "00ff");
  // ba7816bf... in base32, lower case.
  EXPECT_EQ(ShortId("abc", 10), "xj4bnp4pah");
  EXPECT_EQ(ShortId("abc", 52).substr(0, 10), ShortId("abc", 10));
}

TEST(SecretTest, ComparesAndMovesWithoutLeavingACopyBehind) {
  Secret secret(std::string(64, 's'));
  EXPECT_TRUE(secret.EqualsConstantTime(std::string(64, 's')));
  EXPECT_FALSE(secret.EqualsConstantTime(std::string(63, 's') + "t"));
  EXPECT_FALSE(secret.EqualsConstantTime("s"));
  EXPECT_FALSE(secret.EqualsConstantTime(""));
  const Secret moved = std::move(secret);
  EXPECT_EQ(moved.Reveal(), std::string(64, 's'));
  EXPECT_TRUE(secret.empty());  // NOLINT(bugprone-use-after-move): this is what is asked
}

}  // namespace
}  // namespace beige
