#include "gateway/admin/admin_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/gateway/core/client.h"
#include "tests/gateway/core/core.h"

namespace beige {
namespace {
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using testing::Core;

// An operator that says what it is told to.
class FakeOperator {
 public:
  explicit FakeOperator(const HomePaths& paths) : client_(paths.AdminSocket()) {}
  void SendLine(const std::string& line) { client_.Send(line + "\n"); }
  void Send(const admin::ToGateway& message) { SendLine(admin::Encode(message)); }
  void Hello() { Send(admin::Hello{1, 1, {}, "test"}); }
  std::optional<admin::ToOperator> Next() {
    const auto line = client_.Line();
    if (!line) return std::nullopt;
    auto message = admin::DecodeToOperator(*line);
    return message ? std::optional(*message) : std::nullopt;
  }
  template <typename T>
  std::optional<T> NextAs() {
    const auto message = Next();
    if (!message || !std::holds_alternative<T>(*message)) return std::nullopt;
    return std::get<T>(*message);
  }
  // True when the gateway has nothing more to say and closes.
  bool Closed() { return !client_.Line().has_value(); }
  testing::Client& raw() { return client_; }

 private:
  testing::Client client_;
};

admin::Grant GrantOf(const std::string& agent, std::vector<std::string> tools = {}, int64_t generation = 1) {
  admin::Grant grant;
  grant.agent = Core::RefOf(agent);
  grant.generation = generation;
  grant.tools = std::move(tools);
  return grant;
}
}  // namespace

class AdminServerTest : public ::testing::Test {
 protected:
  AdminServerTest() {
    core_.AddTool("kv", "#!/bin/sh\necho hi\n");
    core_.Configure();
    EXPECT_TRUE(MakeDirs(core_.paths().RunDir(), 0700));
    core_.On([&] {
      auto opened = AdminServer::Open(core_.loop(), batch_, core_.paths(), core_.roster());
      ASSERT_TRUE(opened) << opened.error().message;
      server_ = std::move(*opened);
    });
  }
  ~AdminServerTest() override {
    core_.On([&] { server_.reset(); });
  }
  std::vector<std::string> Uids() {
    return core_.On([&] { return core_.roster().Uids(); });
  }
  // Connected, and both have said hello.
  std::unique_ptr<FakeOperator> Connect() {
    auto op = std::make_unique<FakeOperator>(core_.paths());
    EXPECT_TRUE(op->NextAs<admin::Hello>());
    op->Hello();
    return op;
  }

  Core core_;
  WriteBatch batch_;
  std::unique_ptr<AdminServer> server_;
};

TEST_F(AdminServerTest, SaysHelloFirstWithItsVersions) {
  FakeOperator op(core_.paths());
  const auto hello = op.NextAs<admin::Hello>();
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->min, admin::kVersion);
  EXPECT_EQ(hello->max, admin::kVersion);
  EXPECT_EQ(hello->version, BEIGE_VERSION);
}

TEST_F(AdminServerTest, TakesNothingBeforeHello) {
  FakeOperator op(core_.paths());
  EXPECT_TRUE(op.NextAs<admin::Hello>());
  op.Send(admin::Put{GrantOf("a1")});
  EXPECT_TRUE(op.Closed());
  EXPECT_THAT(Uids(), IsEmpty());
}

TEST_F(AdminServerTest, ClosesForAnOperatorOfAnotherProtocol) {
  FakeOperator op(core_.paths());
  EXPECT_TRUE(op.NextAs<admin::Hello>());
  op.Send(admin::Hello{2, 3, {}, "future"});
  EXPECT_TRUE(op.Closed());
}

TEST_F(AdminServerTest, AnOperatorThatKnowsOlderAndNewerVersionsIsTaken) {
  FakeOperator op(core_.paths());
  EXPECT_TRUE(op.NextAs<admin::Hello>());
  op.Send(admin::Hello{0, 7, {"x"}, "wide"});
  op.Send(admin::Sync{});
  EXPECT_TRUE(op.NextAs<admin::Synced>());
}

TEST_F(AdminServerTest, SyncIsTheCompleteSet) {
  const auto op = Connect();
  op->Send(admin::Sync{{GrantOf("a1", {"kv", "nope"}), GrantOf("a2")}});
  const auto first = op->NextAs<admin::InForce>();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->uid, Core::UidOf("a1"));
  EXPECT_THAT(first->unknown_tools, ::testing::ElementsAre("nope"));
  EXPECT_TRUE(op->NextAs<admin::InForce>());
  const auto synced = op->NextAs<admin::Synced>();
  ASSERT_TRUE(synced);
  EXPECT_EQ(synced->count, 2);

  op->Send(admin::Sync{{GrantOf("a2")}});
  const auto removed = op->NextAs<admin::Removed>();
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->uid, Core::UidOf("a1"));
  EXPECT_TRUE(op->NextAs<admin::InForce>());
  EXPECT_TRUE(op->NextAs<admin::Synced>());
  EXPECT_THAT(Uids(), UnorderedElementsAre(Core::UidOf("a2")));
}

TEST_F(AdminServerTest, PutAndRemoveAreAnswered) {
  const auto op = Connect();
  op->Send(admin::Put{GrantOf("a1", {"kv"}, 5)});
  const auto in_force = op->NextAs<admin::InForce>();
  ASSERT_TRUE(in_force);
  EXPECT_EQ(in_force->generation, 5);
  op->Send(admin::Remove{Core::UidOf("a1")});
  const auto removed = op->NextAs<admin::Removed>();
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->uid, Core::UidOf("a1"));
  op->Send(admin::Remove{"never-was"});
  EXPECT_TRUE(op->NextAs<admin::Removed>());
}

TEST_F(AdminServerTest, AGrantThatCannotBeIsRejectedAndTheFormerStays) {
  const auto op = Connect();
  op->Send(admin::Put{GrantOf("a1", {"kv"}, 1)});
  EXPECT_TRUE(op->NextAs<admin::InForce>());
  admin::Grant other = GrantOf("a2", {}, 2);
  other.agent.uid = Core::UidOf("a1");  // the same uid under another name
  op->Send(admin::Put{other});
  const auto rejected = op->NextAs<admin::Rejected>();
  ASSERT_TRUE(rejected);
  EXPECT_EQ(rejected->generation, 2);
  EXPECT_FALSE(rejected->message.empty());
  const auto view = core_.On([&] { return core_.roster().Find({"default", "a1"}); });
  ASSERT_TRUE(view);
  EXPECT_EQ(view->grant.generation, 1);
}

TEST_F(AdminServerTest, AProbeOfNobodyIsAFailedRoundTrip) {
  const auto op = Connect();
  op->Send(admin::Probe{"never-was"});
  const auto trip = op->NextAs<admin::RoundTrip>();
  ASSERT_TRUE(trip);
  EXPECT_FALSE(trip->ok);
  EXPECT_FALSE(trip->message.empty());
}

TEST_F(AdminServerTest, ANewOperatorTakesOverOnlyAfterItsHello) {
  const auto first = Connect();
  first->Send(admin::Sync{});
  EXPECT_TRUE(first->NextAs<admin::Synced>());

  FakeOperator second(core_.paths());
  EXPECT_TRUE(second.NextAs<admin::Hello>());
  first->Send(admin::Put{GrantOf("a1")});  // still the operator
  EXPECT_TRUE(first->NextAs<admin::InForce>());

  second.Hello();
  EXPECT_TRUE(first->Closed());
  second.Send(admin::Sync{{GrantOf("a1")}});
  EXPECT_TRUE(second.NextAs<admin::InForce>());
  EXPECT_TRUE(second.NextAs<admin::Synced>());
}

TEST_F(AdminServerTest, ChangesOfTheConfigurationAreTold) {
  const auto op = Connect();
  op->Send(admin::Put{GrantOf("a1", {"kv", "late"})});
  const auto before = op->NextAs<admin::InForce>();
  ASSERT_TRUE(before);
  EXPECT_THAT(before->unknown_tools, ::testing::ElementsAre("late"));
  core_.AddTool("late", "#!/bin/sh\n");
  core_.Configure();
  const auto after = op->NextAs<admin::InForce>();
  ASSERT_TRUE(after);
  EXPECT_THAT(after->unknown_tools, IsEmpty());
}

TEST_F(AdminServerTest, AnUnknownMessageOfANewerOperatorIsSkipped) {
  const auto op = Connect();
  op->SendLine(R"({"type":"holiday","where":"sea"})");
  op->Send(admin::Sync{});
  EXPECT_TRUE(op->NextAs<admin::Synced>());
}

TEST_F(AdminServerTest, GarbageAndEndlessLinesEndTheConnectionOnly) {
  const auto garbage = Connect();
  garbage->SendLine("not json");
  EXPECT_TRUE(garbage->Closed());
  const auto endless = Connect();
  const std::string piece(1 << 20, 'x');
  for (size_t sent = 0; sent <= admin::kMaxLine; sent += piece.size()) endless->raw().Send(piece);
  EXPECT_TRUE(endless->Closed());
  const auto good = Connect();
  good->Send(admin::Sync{});
  EXPECT_TRUE(good->NextAs<admin::Synced>());
}

TEST_F(AdminServerTest, ManySilentConnectionsDoNotKeepTheOperatorOut) {
  std::vector<std::unique_ptr<FakeOperator>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<FakeOperator>(core_.paths()));
  const auto op = Connect();
  op->Send(admin::Sync{});
  EXPECT_TRUE(op->NextAs<admin::Synced>());
}

}  // namespace beige
