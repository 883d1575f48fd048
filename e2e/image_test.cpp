// The default image has what it promises, and any other image works unchanged, an empty one included.
#include <gtest/gtest.h>

#include "e2e/home.h"

namespace beige::e2e {
namespace {

class DefaultImageTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home = std::make_unique<Home>();
    home->Configure("", "defaults: {resources: {memory: 1Gi}}\n");
    home->AddAgent("a1", "tools: []");
    home->Up();
    const Outcome wait = home->Beige({"wait", "agent", "a1", "--for=condition=Ready", "--timeout=240s"}, "", seconds(250));
    ASSERT_EQ(wait.status, 0) << wait.err << home->Beige({"describe", "agent", "a1"}).out;
  }
  static void TearDownTestSuite() { home.reset(); }
  static std::unique_ptr<Home> home;
};
std::unique_ptr<Home> DefaultImageTest::home;

TEST_F(DefaultImageTest, HasTheLanguagesAndTheUsualTools) {
  EXPECT_EQ(home->Exec("a1", {"python3", "-c", "print(6*7)"}).out, "42\n");
  EXPECT_EQ(home->Exec("a1", {"node", "-e", "console.log(6*7)"}).out, "42\n");
  const Outcome deno = home->Exec("a1", {"deno", "eval", "console.log(6*7)"});
  EXPECT_EQ(deno.out, "42\n") << deno.err;
  EXPECT_EQ(home->Exec("a1", {"bash", "-c", "echo $((6*7))"}).out, "42\n");
  EXPECT_EQ(home->Sh("a1", "echo '{\"a\":42}' | jq .a").out, "42\n");
  EXPECT_EQ(home->Sh("a1", "cd /tmp && git init -q r && cd r && git config user.email a@b && git config user.name a && git commit -q --allow-empty -m x && git log --format=%s").out, "x\n");
  EXPECT_EQ(home->Sh("a1", "echo needle > /tmp/hay && rg -c needle /tmp/hay").out, "1\n");
  EXPECT_EQ(home->Exec("a1", {"curl", "--version"}).status, 0);
}

TEST_F(DefaultImageTest, NodeIsNewEnoughToHonourProxyVariables) {
  const Outcome r = home->Exec("a1", {"node", "-e", "const [a,b]=process.versions.node.split('.').map(Number); process.exit(a>22||(a==22&&b>=21)?0:1)"});
  EXPECT_EQ(r.status, 0) << home->Exec("a1", {"node", "--version"}).out;
}

TEST(AnyImageTest, AnEmptyImageWorksSinceOurFilesAreMounted) {
  Home home;
  home.Configure("tools:\n  hello: {path: ./tools/hello}\n");
  home.AddShellTool("hello", "echo hello");
  home.AddAgent("bare", "tools: [{name: hello}]\nsandbox: {image: \"localhost/empty:test\"}");
  home.AddAgent("volume", "tools: [{name: hello}]\nsandbox: {image: \"localhost/volume:test\"}");
  home.Up();
  home.WaitReady("bare");
  EXPECT_EQ(home.Exec("bare", {"hello"}).out, "hello\n");
  EXPECT_EQ(home.Exec("bare", {"/beige/bin/beige-sandbox", "run", "hello"}).out, "hello\n");
  EXPECT_EQ(home.Exec("bare", {"sh"}).status, 127);
  EXPECT_EQ(home.Exec("bare", {"/beige/bin/beige-sandbox", "core", "write", "a/b.txt", "4"}, "one\n").out, "created\n");
  EXPECT_EQ(home.Exec("bare", {"/beige/bin/beige-sandbox", "core", "patch", "a/b.txt", "3", "3"}, "onetwo").out, "patched 1 0 0\n");
  EXPECT_EQ(home.Exec("bare", {"/beige/bin/beige-sandbox", "core", "read", "/workspace/a/b.txt", "1", "9"}).out, "text 1 1 1 0\ntwo\n");
  home.WaitReady("volume");
  const auto mounts = Engine("GET", "/containers/" + home.ContainerId("volume") + "/json")["Mounts"];
  for (const auto& mount : mounts) EXPECT_NE(mount["Type"], "volume") << mount;
}

TEST(AnyImageTest, AMissingImageIsSaidWithAReasonAndARepairIsPickedUp) {
  Home home;
  home.Configure();
  home.AddAgent("a1", "sandbox: {image: \"localhost/nosuch:1\", imagePullPolicy: Never}");
  home.Up();
  ASSERT_TRUE(Eventually([&] { return home.ConditionReason("a1", "ImageReady") == "ImageMissing"; }));
  home.AddAgent("a1", "sandbox: {image: \"localhost/busybox:test\", imagePullPolicy: Never}");
  home.WaitReady("a1");
}

}  // namespace
}  // namespace beige::e2e
