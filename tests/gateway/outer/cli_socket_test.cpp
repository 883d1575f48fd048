#include "gateway/cli_socket/cli_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gateway/core/client.h"
#include "tests/gateway/core/core.h"

namespace beige {
namespace {
using ::testing::HasSubstr;
using testing::Core;
using testing::V2Client;

std::string ExecFields(const std::string& agent, const std::vector<std::string>& argv) {
  std::string fields;
  v2::AppendField(fields, BGE_TAG_NAMESPACE, "default");
  v2::AppendField(fields, BGE_TAG_AGENT, agent);
  for (const auto& arg : argv) v2::AppendField(fields, BGE_TAG_ARG, arg);
  return fields;
}
}  // namespace

class CliSocketTest : public ::testing::Test {
 protected:
  CliSocketTest() {
    core_.Configure();
    core_.Grant("a1", {});
    core_.On([&] { socket_ = std::move(*CliSocket::Open(core_.loop(), batch_, core_.paths(), core_.roster(), core_.calls())); });
  }
  ~CliSocketTest() override {
    core_.On([&] { socket_.reset(); });
  }
  Core core_;
  WriteBatch batch_;
  std::unique_ptr<CliSocket> socket_;
};

TEST_F(CliSocketTest, AnUnknownAgentIsNamed) {
  V2Client cli(core_.paths().CliSocket(), BGE_ROLE_CLI);
  cli.Send(1, BGE_EXEC, ExecFields("nobody", {"true"}));
  const auto outcome = cli.Finish(1);
  EXPECT_EQ(outcome.exit.how, BGE_HOW_FAILED);
  EXPECT_EQ(outcome.exit.code, 125);
  EXPECT_EQ(outcome.exit.text, "no agent nobody in namespace default");
}

TEST_F(CliSocketTest, ASandboxThatIsNotConnectedIsSaidAndAudited) {
  V2Client cli(core_.paths().CliSocket(), BGE_ROLE_CLI);
  cli.Send(1, BGE_EXEC, ExecFields("a1", {"true"}));
  const auto outcome = cli.Finish(1);
  EXPECT_EQ(outcome.exit.code, 125);
  EXPECT_THAT(outcome.exit.text, HasSubstr("not connected"));
  EXPECT_TRUE(core_.AuditShows([](const std::vector<std::string>& lines) {
    return !lines.empty() && lines.back().find("\"event\":\"end\"") != std::string::npos && lines.back().find("\"outcome\":\"lost\"") != std::string::npos;
  }));
  const auto lines = core_.AuditLines();
  EXPECT_THAT(lines[lines.size() - 2], HasSubstr(R"("surface":"exec","actor":"local","kind":"exec")"));
}

TEST_F(CliSocketTest, SeveralExecsShareAConnection) {
  V2Client cli(core_.paths().CliSocket(), BGE_ROLE_CLI);
  for (uint32_t call = 1; call <= 20; ++call) cli.Send(call, BGE_EXEC, ExecFields("nobody", {"true"}));
  for (uint32_t call = 1; call <= 20; ++call) EXPECT_EQ(cli.Finish(call).exit.code, 125);
}

TEST_F(CliSocketTest, ACommandThatCannotBeIsRefusedWithTheReason) {
  V2Client cli(core_.paths().CliSocket(), BGE_ROLE_CLI);
  cli.Send(1, BGE_EXEC, ExecFields("a1", {}));
  EXPECT_THAT(cli.Finish(1).exit.text, HasSubstr("command: want a program"));
  cli.Send(2, BGE_EXEC, ExecFields("a1", {"echo", std::string("a\0b", 3)}));
  EXPECT_THAT(cli.Finish(2).exit.text, HasSubstr("command[1]: can't hold a NUL"));
}

TEST_F(CliSocketTest, OtherRolesAndProtocolsAreRefused) {
  V2Client caller(core_.paths().CliSocket(), BGE_ROLE_CALLER);
  const auto refused = caller.NextOf(BGE_REFUSED);
  ASSERT_TRUE(refused);
  EXPECT_THAT(refused->payload, HasSubstr("role"));
  EXPECT_FALSE(caller.Next());

  testing::Client v1(core_.paths().CliSocket());
  v1.Send("{\"type\":\"tool_request\"}\n");
  const auto line = v1.Line();
  ASSERT_TRUE(line);
  EXPECT_THAT(*line, HasSubstr("want BGE2"));
}

TEST_F(CliSocketTest, AFrameOverTheLimitEndsTheConnectionOnly) {
  V2Client bad(core_.paths().CliSocket(), BGE_ROLE_CLI);
  bad.raw().Send(std::string("\xff\xff\xff\x7f\x01\x00\x00\x00\x12\x00\x00\x00", 12));
  EXPECT_TRUE(bad.NextOf(BGE_REFUSED));
  EXPECT_FALSE(bad.Next());
  V2Client good(core_.paths().CliSocket(), BGE_ROLE_CLI);
  good.Send(1, BGE_EXEC, ExecFields("nobody", {"true"}));
  EXPECT_EQ(good.Finish(1).exit.code, 125);
}

TEST_F(CliSocketTest, PingIsAnswered) {
  V2Client cli(core_.paths().CliSocket(), BGE_ROLE_CLI);
  cli.Send(0, BGE_PING, "12345678");
  const auto pong = cli.NextOf(BGE_PONG);
  ASSERT_TRUE(pong);
  EXPECT_EQ(pong->payload, "12345678");
}

}  // namespace beige
