#include "operator/admin/gateway_client.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <thread>

#include "tests/operator/temp_dir.h"
#include "tests/operator/tiny_gateway.h"

namespace beige {
namespace {
using testing::TempDir;
using testing::TinyGateway;

admin::Grant GrantFor(const std::string& name, int64_t generation = 1) {
  admin::Grant grant;
  grant.agent = {"default", name, "uid-" + name};
  grant.generation = generation;
  return grant;
}

// A client on a loop of its own thread, as in the operator.
class GatewayClientTest : public ::testing::Test {
 protected:
  GatewayClientTest() : gateway(dir / "admin.sock") {
    client = std::make_unique<GatewayClient>(loop, clock, dir / "admin.sock", "test",
                                             GatewayClient::Callbacks{.grants = [this] { return Get(grants); },
                                                                      .changed = [this](const std::string&) { Poke(); },
                                                                      .link_changed = [this] { Poke(); }});
    loop.Post([this] { client->Start(); });
    thread = std::thread([this] { loop.Run(); });
  }
  ~GatewayClientTest() override {
    client->Stop();
    loop.Stop();
    thread.join();
    client.reset();
  }
  std::optional<std::vector<admin::Grant>> Get(const std::optional<std::vector<admin::Grant>>& from) {
    std::lock_guard lock(mutex);
    return from;
  }
  void Want(std::vector<admin::Grant> all) {
    {
      std::lock_guard lock(mutex);
      grants = std::move(all);
    }
    client->GrantsReady();
  }
  void Poke() {
    std::lock_guard lock(mutex);
    wake.notify_all();
  }
  bool Until(const std::function<bool()>& predicate) {
    std::unique_lock lock(mutex);
    return wake.wait_for(lock, std::chrono::seconds(10), predicate);
  }
  bool InForce(const std::string& name) {
    return Until([&] { return client->Facts("uid-" + name).in_force.has_value(); });
  }

  TempDir dir;
  RealClock clock;
  TinyGateway gateway;
  Loop loop;
  std::mutex mutex;
  std::condition_variable wake;
  std::optional<std::vector<admin::Grant>> grants;
  std::unique_ptr<GatewayClient> client;
  std::thread thread;
};

TEST_F(GatewayClientTest, TellsTheCompleteSetOnceItIsKnownAndNothingBefore) {
  gateway.Listen();
  EXPECT_TRUE(gateway.Log().empty());
  Want({GrantFor("a"), GrantFor("b")});
  EXPECT_TRUE(gateway.AwaitLine("sync a b"));
  EXPECT_TRUE(InForce("a"));
  EXPECT_TRUE(InForce("b"));
  EXPECT_TRUE(client->link().synced);
}

TEST_F(GatewayClientTest, AGatewayThatComesLaterIsFoundAndOneThatGoesIsToldEverythingAgain) {
  Want({GrantFor("a")});
  gateway.Listen();
  ASSERT_TRUE(InForce("a"));
  gateway.Say(admin::Registered{"uid-a", "i1", "1"});
  ASSERT_TRUE(Until([&] { return client->Facts("uid-a").registered; }));
  gateway.DropPeer();
  ASSERT_TRUE(gateway.Await([](const auto& log) { return log.size() == 2 && log[1] == "sync a"; }));
  ASSERT_TRUE(InForce("a"));
  EXPECT_FALSE(client->Facts("uid-a").registered) << "what was said on the old connection is no fact any more";
}

TEST_F(GatewayClientTest, PutReturnsWhenTheGrantIsInForce) {
  Want({});
  gateway.Listen();
  ASSERT_TRUE(Until([&] { return client->link().synced; }));
  ASSERT_TRUE(client->Put(GrantFor("a", 5)));
  EXPECT_EQ(client->Facts("uid-a").in_force->generation, 5);
  EXPECT_EQ(client->Facts("uid-a").sent, GrantFor("a", 5));
  ASSERT_TRUE(client->Remove("uid-a"));
  EXPECT_FALSE(client->Facts("uid-a").in_force);
  EXPECT_EQ(gateway.Log(), (std::vector<std::string>{"sync", "put a 5", "remove uid-a"}));
}

TEST_F(GatewayClientTest, ARefusedGrantIsAnErrorAndTheFormerStays) {
  Want({});
  gateway.Listen();
  ASSERT_TRUE(Until([&] { return client->link().synced; }));
  ASSERT_TRUE(client->Put(GrantFor("a", 1)));
  gateway.Reject("uid-a", "tool x can't be offered");
  const auto refused = client->Put(GrantFor("a", 2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_NE(refused.error().message.find("tool x"), std::string::npos);
  EXPECT_EQ(client->Facts("uid-a").in_force->generation, 1);
}

TEST_F(GatewayClientTest, WhoWaitsIsToldWhenTheGatewayGoes) {
  Want({});
  gateway.Hang("put");
  gateway.Listen();
  ASSERT_TRUE(Until([&] { return client->link().synced; }));
  std::thread dropper([&] {
    gateway.AwaitLine("put a 1");
    gateway.Close();
  });
  const auto put = client->Put(GrantFor("a"));
  dropper.join();
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Code::kUnavailable);
  const auto announce = client->Announce("uid-a", "i");
  ASSERT_FALSE(announce);
  EXPECT_EQ(announce.error().code, Code::kUnavailable);
}

TEST_F(GatewayClientTest, AnAnnouncementIsTakenWhenItReturnsOrSaysWhyNot) {
  Want({GrantFor("a")});
  gateway.Listen();
  ASSERT_TRUE(InForce("a"));
  ASSERT_TRUE(client->Announce("uid-a", "i9"));
  EXPECT_TRUE(gateway.AwaitLine("announce uid-a i9"));
  gateway.Hang("window");
  const auto refused = client->Announce("uid-a", "i10");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("disk full"), std::string::npos);
}

TEST_F(GatewayClientTest, RoundTripsAreCountedAndGoodOnesWakeNobody) {
  Want({GrantFor("a")});
  gateway.Listen();
  ASSERT_TRUE(InForce("a"));
  gateway.Say(admin::Registered{"uid-a", "i1", "1"});
  gateway.Say(admin::RoundTrip{"uid-a", true, 300, ""});
  ASSERT_TRUE(Until([&] { return client->Facts("uid-a").round_trip == true; }));
  gateway.Say(admin::RoundTrip{"uid-a", false, 0, "refused"});
  gateway.Say(admin::RoundTrip{"uid-a", false, 0, "refused"});
  ASSERT_TRUE(Until([&] { return client->Facts("uid-a").round_trip_failures == 2; }));
  EXPECT_EQ(client->Facts("uid-a").round_trip_message, "refused");
  gateway.Say(admin::Registered{"uid-a", "i2", "1"});
  ASSERT_TRUE(Until([&] { return client->Facts("uid-a").instance == "i2"; }));
  EXPECT_EQ(client->Facts("uid-a").round_trip, std::nullopt) << "a new registration has made no round trip yet";
}

TEST_F(GatewayClientTest, AGatewayOfAnotherProtocolIsNamedAndTriedAgain) {
  gateway.SetVersion(admin::kVersion + 1, admin::kVersion + 2);
  Want({GrantFor("a")});
  gateway.Listen();
  ASSERT_TRUE(Until([&] { return client->link().message.find("upgrade") != std::string::npos; }));
  EXPECT_TRUE(gateway.Log().empty());
  gateway.SetVersion(admin::kVersion, admin::kVersion + 2);
  EXPECT_TRUE(InForce("a"));
}

TEST_F(GatewayClientTest, UnknownMessagesAreSkippedAndMalformedOnesEndTheConnection) {
  Want({GrantFor("a")});
  gateway.Listen();
  ASSERT_TRUE(InForce("a"));
  gateway.SayRaw("{\"type\":\"news\",\"of\":\"tomorrow\"}");
  gateway.Say(admin::Registered{"uid-a", "i1", "1"});
  EXPECT_TRUE(Until([&] { return client->Facts("uid-a").registered; }));
  gateway.SayRaw("{\"type\":\"registered\",\"uid\":7}");
  EXPECT_TRUE(gateway.Await([](const auto& log) { return log.size() >= 2 && log[1] == "sync a"; }));
}

}  // namespace
}  // namespace beige
