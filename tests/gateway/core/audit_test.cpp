#include "gateway/audit/audit_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/random.h"
#include "base/spawn.h"
#include "gateway/audit/sync_thread.h"
#include "gateway/metrics/metrics.h"
#include "tests/support/temp_dir.h"

namespace beige {
namespace {
using nlohmann::json;

CallRequest Request(const std::string& agent = "researcher", std::vector<std::string> args = {"get", "a"}) {
  CallRequest request;
  request.agent = {"default", agent, "uid-of-" + agent};
  request.tool = "kv";
  request.args = std::move(args);
  return request;
}

class AuditTest : public ::testing::Test {
 protected:
  std::unique_ptr<AuditLog> Open(const AuditLimits& limits = {}, AuditSync sync = AuditSync::kNone) {
    auto log = AuditLog::Open(path_, sync, clock_, metrics_, limits);
    EXPECT_TRUE(log) << (log ? "" : log.error().message);
    return log ? std::move(*log) : nullptr;
  }
  static Result<std::string> Begin(AuditLog& log, const CallRequest& request, bool allowed = true) {
    return log.Begin({&request, allowed, "tools", allowed ? "" : "denied by policy: because", 7});
  }
  static void End(AuditLog& log, const std::string& id, const CallRequest& request) {
    log.End(id, {&request, "ok", 812, 0, 0, 1, 5, 2, ""});
  }
  static std::vector<std::string> LinesOf(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  std::vector<json> Records() const {
    std::vector<json> records;
    for (const auto& line : LinesOf(path_)) records.push_back(json::parse(line));
    return records;
  }

  TempDir dir_;
  std::string path_ = dir_ / "audit.jsonl";
  ManualClock clock_;
  GatewayMetrics metrics_;
};

TEST_F(AuditTest, AnAllowedCallIsOneBeginAndOneEndWithEveryField) {
  auto log = Open();
  const CallRequest request = Request();
  const auto id = Begin(*log, request);
  ASSERT_TRUE(id);
  End(*log, *id, request);
  const auto records = Records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0], (json{{"v", 1}, {"ts", FormatTime(clock_.WallNow())}, {"seq", 1}, {"id", *id}, {"event", "begin"}, {"namespace", "default"}, {"agent", "researcher"}, {"agentUid", "uid-of-researcher"}, {"surface", "socket"}, {"actor", "agent"}, {"kind", "tool"}, {"tool", "kv"}, {"args", {"get", "a"}}, {"session", nullptr}, {"parent", nullptr}, {"cwd", nullptr}, {"decision", "allow"}, {"rule", "tools"}, {"generation", 7}}));
  EXPECT_EQ(records[1], (json{{"v", 1}, {"ts", FormatTime(clock_.WallNow())}, {"seq", 2}, {"id", *id}, {"event", "end"}, {"namespace", "default"}, {"agent", "researcher"}, {"agentUid", "uid-of-researcher"}, {"tool", "kv"}, {"outcome", "ok"}, {"durationUs", 812}, {"exitCode", 0}, {"signal", nullptr}, {"stdinBytes", 1}, {"stdoutBytes", 5}, {"stderrBytes", 2}}));
  struct stat st {};
  ASSERT_EQ(::stat(path_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
}

TEST_F(AuditTest, ADenialIsOneBeginWithTheReason) {
  auto log = Open();
  ASSERT_TRUE(Begin(*log, Request(), false));
  const auto records = Records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0]["decision"], "deny");
  EXPECT_EQ(records[0]["reason"], "denied by policy: because");
}

TEST_F(AuditTest, NothingInAPayloadCanForgeALine) {
  auto log = Open();
  CallRequest request = Request("researcher", {"a\n{\"v\":1,\"event\":\"end\"}\n", "\xFF\xFE", std::string("b\0c", 3), "\",\"decision\":\"allow\",\"x\":\""});
  request.tool = "x\",\"decision\":\"allow\n";
  request.session_claim = "s\n";
  request.cwd_claim = std::string(5000, 'c');
  ASSERT_TRUE(Begin(*log, request, false));
  const auto records = Records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0]["decision"], "deny");
  EXPECT_EQ(records[0]["tool"], request.tool);
  EXPECT_EQ(records[0]["args"][0], request.args[0]);
  EXPECT_EQ(records[0]["args"][1], "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(records[0]["args"][2], request.args[2]);
  EXPECT_EQ(records[0]["cwd"].get<std::string>().size(), 515u);
}

TEST_F(AuditTest, ArgumentsBeyond4KiBAreCutToTheirDigest) {
  auto log = Open();
  const std::string large(4096, 'a');
  ASSERT_TRUE(Begin(*log, Request("r", {large, "b"}), false));
  ASSERT_TRUE(Begin(*log, Request("r", {std::string(4095, 'a')}), false));
  const auto records = Records();
  const std::string joined = large + std::string("\0b\0", 3);
  EXPECT_EQ(records[0]["args"], (json{{"cut", true}, {"bytes", joined.size()}, {"sha256", Sha256Hex(joined)}}));
  EXPECT_EQ(records[1]["args"][0].get<std::string>().size(), 4095u);
}

TEST_F(AuditTest, ATornTailIsClosedOffAndSaid) {
  {
    auto log = Open();
    ASSERT_TRUE(Begin(*log, Request(), false));
  }
  std::ofstream(path_, std::ios::app) << R"({"v":1,"ts":"2026-)";
  auto log = Open();
  ASSERT_TRUE(Begin(*log, Request(), false));
  const auto lines = LinesOf(path_);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1], R"({"v":1,"ts":"2026-)");
  EXPECT_EQ(json::parse(lines[2])["event"], "note");
  EXPECT_EQ(json::parse(lines[2])["seq"], 2);
  EXPECT_EQ(json::parse(lines[3])["seq"], 3);
}

TEST_F(AuditTest, BeginsWithoutAnEndAreClosedAsUnknownAtTheNextStart) {
  std::string open_id;
  {
    auto log = Open();
    const CallRequest request = Request();
    const auto done = Begin(*log, request);
    End(*log, *done, request);
    open_id = *Begin(*log, Request("other"));
    ASSERT_TRUE(Begin(*log, Request(), false));
  }
  auto log = Open();
  const auto records = Records();
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[4]["event"], "end");
  EXPECT_EQ(records[4]["id"], open_id);
  EXPECT_EQ(records[4]["outcome"], "unknown");
  EXPECT_EQ(records[4]["agent"], "other");
  EXPECT_EQ(records[4]["seq"], 5);
  log.reset();
  log = Open();
  EXPECT_EQ(Records().size(), 5u) << "closed once only";
}

TEST_F(AuditTest, RotationLosesNothingAndSeqGoesOn) {
  AuditLimits limits;
  limits.rotate_bytes = 6000;
  std::string open_id;
  {
    auto log = Open(limits);
    open_id = *Begin(*log, Request("crashed"));
    for (int i = 0; i < 20; ++i) {
      clock_.Advance(std::chrono::seconds(1));
      ASSERT_TRUE(Begin(*log, Request(), false));
    }
  }
  std::vector<json> all;
  const auto files = *ListDir(dir_.path());
  for (const auto& file : files) {
    if (!file.starts_with("audit-")) continue;
    for (const auto& line : LinesOf(dir_ / file)) all.push_back(json::parse(line));
  }
  ASSERT_FALSE(all.empty());
  // The begin whose end is missing lies in the rotated file.
  auto log = Open(limits);
  for (const auto& line : LinesOf(path_)) all.push_back(json::parse(line));
  ASSERT_EQ(all.size(), 22u);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i]["seq"], i + 1);
  EXPECT_EQ(all.back()["outcome"], "unknown");
  EXPECT_EQ(all.back()["id"], open_id);
}

TEST_F(AuditTest, AnAgentOverItsBudgetIsRefusedAloneWithOneSummaryASecond) {
  auto log = Open();
  log->SetBudget(2000);
  int admitted = 0;
  while (Begin(*log, Request("loud"), false)) ++admitted;
  EXPECT_GT(admitted, 2);
  EXPECT_LT(admitted, 12);
  for (int i = 0; i < 100; ++i) {
    const auto refused = Begin(*log, Request("loud"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kExhausted);
    EXPECT_NE(refused.error().message.find("perAgentBytesPerDay"), std::string::npos);
  }
  EXPECT_TRUE(Begin(*log, Request("quiet")));
  clock_.Advance(std::chrono::seconds(2));
  EXPECT_TRUE(Begin(*log, Request("quiet")));
  int64_t told = 0;
  int notes = 0;
  for (const auto& record : Records()) {
    if (record["event"] != "note") continue;
    ++notes;
    EXPECT_EQ(record["agent"], "loud");
    const auto text = record["message"].get<std::string>();
    told += std::stoll(text.substr(text.find("refused ") + 8));
  }
  EXPECT_EQ(told, 101);
  EXPECT_LE(notes, 2);
  clock_.Advance(std::chrono::hours(24));
  EXPECT_TRUE(Begin(*log, Request("loud"))) << "a new day";
}

TEST_F(AuditTest, AnAgentOverItsBudgetDoesNotLockItsOwnerOut) {
  auto log = Open();
  log->SetBudget(2000);
  while (Begin(*log, Request("loud"), false)) {
  }
  CallRequest owners = Request("loud");
  owners.actor = "local";
  EXPECT_TRUE(Begin(*log, owners));
  EXPECT_FALSE(Begin(*log, Request("loud"), false));
}

TEST_F(AuditTest, TheBudgetUsedTodaySurvivesARestart) {
  {
    auto log = Open();
    log->SetBudget(2000);
    while (Begin(*log, Request("loud"), false)) {
    }
  }
  auto log = Open();
  log->SetBudget(2000);
  EXPECT_FALSE(Begin(*log, Request("loud"), false));
}

TEST_F(AuditTest, NoCallBeginsWhenNoRoomIsReservedForItsEnd) {
  AuditLimits limits;
  limits.reserve_bytes = 4096;
  auto log = Open(limits);
  const CallRequest request = Request();
  std::vector<std::string> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(*Begin(*log, request));
  const auto fifth = Begin(*log, request);
  ASSERT_FALSE(fifth);
  EXPECT_EQ(fifth.error().code, Code::kExhausted);
  EXPECT_TRUE(Begin(*log, request, false)) << "a denial needs no end";
  End(*log, ids[0], request);
  EXPECT_TRUE(Begin(*log, request));
}

TEST_F(AuditTest, ADiskThatCantSyncStopsCallsUntilItCan) {
  audit::SyncThread thread(std::chrono::milliseconds(1));
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  UniqueFd reader(ends[0]);
  thread.Use(std::make_shared<const UniqueFd>(ends[1]));  // fdatasync of a pipe fails
  thread.MarkDirty();
  while (thread.error() == 0) std::this_thread::yield();
  EXPECT_EQ(thread.error(), EINVAL);
  thread.Use(std::make_shared<const UniqueFd>(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)));
  while (thread.error() != 0) std::this_thread::yield();
}

// A small disk of its own, in a mount namespace: the test runs itself again in there.
class SmallDiskTest : public AuditTest {
 protected:
  static const char* Disk() { return std::getenv("BEIGE_TEST_SMALL_DISK"); }
  static int RunInside(const std::string& test) {
    SpawnRequest request;
    request.argv = {"bwrap", "--dev-bind", "/", "/", "--size", "1048576", "--tmpfs", "/mnt", "--", ExecutableDir() + "/gateway_audit_test",
                    "--gtest_filter=" + test};
    request.environment = CurrentEnvironment();
    request.environment.push_back("BEIGE_TEST_SMALL_DISK=/mnt");
    request.fds = {{1, 1}, {2, 2}};
    const auto pid = Spawn(request);
    if (!pid) return -1;
    int status = 0;
    ::waitpid(*pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(SmallDiskTest, AFullDiskStopsCallsAndNeverTheEndsOfThoseThatRun) {
  if (Disk() == nullptr) {
    ASSERT_EQ(RunInside("SmallDiskTest.AFullDiskStopsCallsAndNeverTheEndsOfThoseThatRun"), 0);
    return;
  }
  path_ = std::string(Disk()) + "/audit.jsonl";
  AuditLimits limits;
  limits.reserve_bytes = 128 << 10;
  auto log = Open(limits);
  const CallRequest request = Request("r", {std::string(3000, 'x')});
  std::vector<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.push_back(*Begin(*log, request));
  const std::string filler = std::string(Disk()) + "/filler";
  {
    std::ofstream file(filler, std::ios::binary);
    const std::string block(4096, 'f');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  // What is left of the last page takes a begin or two at most.
  Result<std::string> begun = Begin(*log, request);
  for (int i = 0; begun && i < 4; ++i) {
    ids.push_back(*begun);
    begun = Begin(*log, request);
  }
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, Code::kUnavailable);
  EXPECT_NE(begun.error().message.find("No space left on device"), std::string::npos);
  for (const auto& id : ids) End(*log, id, request);
  std::map<std::string, int> state;
  uint64_t seq = 0;
  for (const auto& record : Records()) {
    EXPECT_EQ(record["seq"], ++seq);
    state[record["id"].get<std::string>()] += record["event"] == "begin" ? 1 : 10;
  }
  ASSERT_EQ(state.size(), ids.size());
  for (const auto& [id, seen] : state) EXPECT_EQ(seen, 11) << id;
  // The reserve is used up in part: nothing begins before it is whole again.
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_FALSE(Begin(*log, request));
  ASSERT_TRUE(RemoveFile(filler));
  clock_.Advance(std::chrono::seconds(1));
  const auto again = Begin(*log, request);
  EXPECT_TRUE(again) << again.error().message;
}

}  // namespace
}  // namespace beige
