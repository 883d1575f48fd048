#include "gateway/audit/audit_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/random.h"
#include "base/spawn.h"
#include "gateway/audit/recovery.h"
#include "gateway/audit/rotation.h"
#include "gateway/audit/sync_thread.h"
#include "gateway/metrics/metrics.h"
#include "tests/support/temp_dir.h"

namespace {
// What fdatasync does in this program: counted, and on demand failing as on a broken disk.
std::atomic<int> g_syncs{0};
std::atomic<int> g_sync_error{0};
}  // namespace

extern "C" int fdatasync(int fd) {
  ++g_syncs;
  if (const int error = g_sync_error; error != 0) {
    errno = error;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

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

// Takes the newline off the log's last record, as a crash in the middle of a write may.
void TearNewline(const std::string& path) {
  struct stat st {};
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  ASSERT_EQ(::truncate(path.c_str(), st.st_size - 1), 0);
}

TEST_F(AuditTest, ARecordThatLacksOnlyItsNewlineIsARecord) {
  std::string open_id;
  {
    auto log = Open();
    open_id = *Begin(*log, Request());
  }
  TearNewline(path_);
  auto log = Open();
  const auto records = Records();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1]["event"], "note");
  EXPECT_EQ(records[1]["seq"], 2) << "no number is given twice";
  EXPECT_EQ(records[2]["event"], "end");
  EXPECT_EQ(records[2]["id"], open_id);
  EXPECT_EQ(records[2]["outcome"], "unknown");
  log.reset();
  log = Open();
  EXPECT_EQ(Records().size(), 3u) << "closed once only";
}

TEST_F(AuditTest, AnEndThatLacksOnlyItsNewlineGetsNoSecondOne) {
  {
    auto log = Open();
    const CallRequest request = Request();
    End(*log, *Begin(*log, request), request);
  }
  TearNewline(path_);
  auto log = Open();
  const auto records = Records();
  ASSERT_EQ(records.size(), 3u) << records.back().dump();
  EXPECT_EQ(records[1]["outcome"], "ok");
  EXPECT_EQ(records[2]["event"], "note");
  EXPECT_EQ(records[2]["seq"], 3);
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

class RotationTest : public AuditTest {
 protected:
  RotationTest() { limits_.rotate_bytes = 6000; }
  // Denials of another agent until the log was rotated `times` times.
  void Rotate(AuditLog& log, size_t times) {
    for (const size_t until = audit::RotatedFiles(path_).size() + times; audit::RotatedFiles(path_).size() < until;) {
      clock_.Advance(std::chrono::milliseconds(1));
      ASSERT_TRUE(Begin(log, Request("noise"), false));
    }
  }
  // Every record of all files, in order.
  std::vector<json> All() const {
    std::vector<json> all;
    std::vector<std::string> files = audit::RotatedFiles(path_);
    files.push_back(path_);
    for (const auto& file : files) {
      for (const auto& line : LinesOf(file)) all.push_back(json::parse(line));
    }
    return all;
  }
  AuditLimits limits_;
};

TEST_F(RotationTest, LosesNothingAndSeqGoesOnAcrossFilesAndStarts) {
  int begins = 0;
  for (int run = 0; run < 3; ++run) {
    auto log = Open(limits_);
    for (int i = 0; i < 40; ++i, ++begins) {
      clock_.Advance(std::chrono::milliseconds(1));
      ASSERT_TRUE(Begin(*log, Request(), false));
    }
  }
  ASSERT_GE(audit::RotatedFiles(path_).size(), 3u);
  const auto all = All();
  for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i]["seq"], i + 1);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const json& r) { return r["event"] == "begin"; }), begins);
}

TEST_F(RotationTest, ABeginThatLiesManyFilesBackIsClosedAtTheNextStart) {
  std::string left;
  {
    auto log = Open(limits_);
    const CallRequest request = Request("crashed");
    const std::string ended = *Begin(*log, request);
    left = *Begin(*log, request);
    Rotate(*log, 5);
    End(*log, ended, request);
  }
  auto log = Open(limits_);
  const auto all = All();
  EXPECT_EQ(all.back()["outcome"], "unknown");
  EXPECT_EQ(all.back()["id"], left);
  EXPECT_EQ(all.back()["seq"], all.size());
  log.reset();
  log = Open(limits_);
  EXPECT_EQ(All().size(), all.size()) << "closed once only, and nothing else is";
}

TEST_F(RotationTest, AStartLooksOnlyThroughFilesThatMayHoldAnOpenCall) {
  const std::string tomorrow = "2999-01-01";
  std::string id;
  const CallRequest request = Request("runs");
  auto log = Open(limits_);
  Rotate(*log, 2);
  const auto scanned = [&] { return audit::FilesToScan(audit::RotatedFiles(path_), path_, tomorrow).size(); };
  EXPECT_EQ(scanned(), 1u) << "nothing ran when the file began";
  id = *Begin(*log, request);
  Rotate(*log, 3);
  EXPECT_EQ(scanned(), 4u) << "back to the file with the begin";
  End(*log, id, request);
  Rotate(*log, 1);
  EXPECT_EQ(scanned(), 1u);
  // A crash between the rename and the first record of the new file.
  ASSERT_EQ(::rename(path_.c_str(), (dir_ / "audit-29990101T000000.000Z.jsonl").c_str()), 0);
  EXPECT_EQ(scanned(), 2u);
  EXPECT_EQ(audit::FilesToScan(audit::RotatedFiles(path_), path_, FormatTime(clock_.WallNow()).substr(0, 10)).size(), 8u)
      << "all of today: the budgets are counted from them";
}

TEST_F(RotationTest, TheBudgetOfADayIsCountedOverAllFilesOfTheDay) {
  {
    auto log = Open(limits_);
    log->SetBudget(3000);
    while (Begin(*log, Request("loud"), false)) {
    }
    log->SetBudget(0);
    Rotate(*log, 4);
  }
  auto log = Open(limits_);
  log->SetBudget(3000);
  EXPECT_FALSE(Begin(*log, Request("loud"), false));
  EXPECT_TRUE(Begin(*log, Request("quiet"), false));
}

TEST_F(RotationTest, OnlyAgeRemovesAFileAndTheRemovalIsSaid) {
  auto log = Open(limits_);
  log->SetKeep(std::chrono::hours(48));
  Rotate(*log, 3);
  const auto age = [&](const std::string& file, int hours) {
    const timespec then[2] = {{::time(nullptr) - hours * 3600, 0}, {::time(nullptr) - hours * 3600, 0}};
    return ::utimensat(AT_FDCWD, file.c_str(), then, 0);
  };
  const auto files = audit::RotatedFiles(path_);
  clock_.Advance(std::chrono::hours(2));
  log->Tick();
  EXPECT_EQ(audit::RotatedFiles(path_).size(), 3u);
  // Old by its last write but not by its name: copied, or a clock was wrong once.
  ASSERT_EQ(age(files[0], 24 * 365 * 30), 0);
  for (const auto& file : {files[1], files[2]}) ASSERT_EQ(age(file, -24 * 365 * 50), 0);
  clock_.Advance(std::chrono::hours(2));
  log->Tick();
  EXPECT_EQ(audit::RotatedFiles(path_).size(), 3u);
  clock_.Advance(std::chrono::hours(72));
  log->Tick();
  EXPECT_EQ(audit::RotatedFiles(path_), (std::vector<std::string>{files[1], files[2]}));
  EXPECT_NE(LinesOf(path_).back().find("removed " + files[0].substr(files[0].rfind('/') + 1)), std::string::npos) << LinesOf(path_).back();
}

TEST_F(AuditTest, AFileThatIsMovedAwayIsFollowedByANewOneAtItsPath) {
  auto log = Open();
  const CallRequest request = Request();
  const std::string id = *Begin(*log, request);
  ASSERT_EQ(::rename(path_.c_str(), (dir_ / "taken").c_str()), 0);
  log->Tick();
  End(*log, id, request);
  const auto records = Records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0]["event"], "note");
  EXPECT_NE(records[0]["message"].get<std::string>().find("not the one at its path"), std::string::npos);
  EXPECT_EQ(records[1]["id"], id);
  EXPECT_EQ(records[1]["seq"], 3);
}

TEST_F(AuditTest, SyncNoneLeavesItToTheKernelBatchComesSoonAndEachComesFirst) {
  {
    auto log = Open();
    g_syncs = 0;
    ASSERT_TRUE(Begin(*log, Request()));
    log->SetSync(AuditSync::kEach);
    EXPECT_EQ(g_syncs, 0);
    ASSERT_TRUE(Begin(*log, Request()));
    EXPECT_EQ(g_syncs, 1);
  }
  auto log = Open({}, AuditSync::kBatch);
  g_syncs = 0;
  ASSERT_TRUE(Begin(*log, Request()));
  while (g_syncs == 0) std::this_thread::yield();
}

TEST_F(AuditTest, SyncEachRunsNoCallWhoseRecordIsNotOnTheDisk) {
  auto log = Open({}, AuditSync::kEach);
  g_sync_error = EIO;
  const auto begun = Begin(*log, Request());
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, Code::kUnavailable);
  EXPECT_EQ(Records().back()["outcome"], "cancelled") << "it is said that it did not run";
  g_sync_error = 0;
  EXPECT_TRUE(Begin(*log, Request()));
}

TEST_F(AuditTest, SyncBatchDeniesFromTheFirstFailureUntilTheDiskIsBack) {
  auto log = Open({}, AuditSync::kBatch);
  g_sync_error = EIO;
  // Denials, of which there may be any number: they need no room for an end.
  ASSERT_TRUE(Begin(*log, Request(), false));
  while (Begin(*log, Request(), false)) std::this_thread::yield();
  g_sync_error = 0;
  while (!Begin(*log, Request(), false)) std::this_thread::yield();
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
  log->Tick();  // nobody has to call for it
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

TEST_F(AuditTest, NotesThatAnAgentCausesCountForItAndComeOnceAnHourBeyondItsBudget) {
  const AgentRef loud{"default", "loud", "uid-of-loud"};
  const AgentRef quiet{"default", "quiet", "uid-of-quiet"};
  {
    auto log = Open();
    log->SetBudget(2000);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(log->Note("control", &loud, "sandbox", "refused 1 on control.sock"));
    const size_t kept = Records().size();
    EXPECT_GT(kept, 4u);
    EXPECT_LT(kept, 12u);
    EXPECT_FALSE(Begin(*log, Request("loud"))) << "its notes have used up its day";
    ASSERT_TRUE(log->Note("control", &quiet, "sandbox", "another's"));
    ASSERT_TRUE(log->Note("grant", &loud, "operator", "what is done to it is not its doing"));
    EXPECT_EQ(Records().size(), kept + 2);
    clock_.Advance(std::chrono::minutes(61));
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(log->Note("control", &loud, "sandbox", "refused 1 on control.sock"));
    EXPECT_EQ(Records().size(), kept + 3);
    const auto said = Records().back()["message"].get<std::string>();
    EXPECT_NE(said.find(": " + std::to_string(100 - kept) + " notes before this one"), std::string::npos) << said;
    EXPECT_EQ(said.find("refused 1"), 0u);
  }
  auto log = Open();
  log->SetBudget(2000);
  EXPECT_FALSE(Begin(*log, Request("loud"))) << "and so it is after a restart";
  EXPECT_TRUE(Begin(*log, Request("quiet")));
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

// An ext4 of its own on a loop device, which goes read-only as ext4 does after an error.
class ReadOnlyDiskTest : public AuditTest {
 protected:
  static int Run(std::vector<std::string> argv) {
    SpawnRequest request;
    request.argv = std::move(argv);
    request.environment = CurrentEnvironment();
    const auto pid = Spawn(request);
    int status = 0;
    if (!pid || ::waitpid(*pid, &status, 0) != *pid) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  static std::string OutputOf(const std::string& command, const std::string& file) {
    (void)Run({"sh", "-c", command + " >" + file});
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
  }
  bool Mount() { return Run({"mount", "-o", "loop,errors=remount-ro", dir_ / "disk.img", dir_ / "mnt"}) == 0; }
  void SetUp() override {
    ASSERT_EQ(::mkdir((dir_ / "mnt").c_str(), 0755), 0);
    if (Run({"sh", "-c", "truncate -s 8M " + dir_ / "disk.img" + " && mkfs.ext4 -q -F " + dir_ / "disk.img" + " 2>&1"}) != 0 || !Mount()) {
      GTEST_SKIP() << "needs root, mkfs.ext4 and a loop device";
    }
    path_ = dir_ / "mnt/audit.jsonl";
  }
  void TearDown() override { (void)Run({"sh", "-c", "umount -l " + dir_ / "mnt" + " 2>/dev/null"}); }
};

TEST_F(ReadOnlyDiskTest, CallsAreDeniedNothingIsLostAndItGoesOnWithoutARestart) {
  AuditLimits limits;
  limits.reserve_bytes = 64 << 10;
  auto log = Open(limits, AuditSync::kEach);
  ASSERT_NE(log, nullptr);
  const CallRequest request = Request();
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(*Begin(*log, request));
  const std::string device = OutputOf("findmnt -no SOURCE " + dir_ / "mnt", dir_ / "device");
  ASSERT_EQ(Run({"sh", "-c", "echo 1 >/sys/fs/ext4/" + device.substr(device.rfind('/') + 1) + "/trigger_fs_error"}), 0) << device;
  const auto denied = Begin(*log, request);
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, Code::kUnavailable);
  EXPECT_NE(denied.error().message.find("Read-only file system"), std::string::npos) << denied.error().message;
  for (const auto& id : ids) End(*log, id, request);
  log->Tick();
  EXPECT_FALSE(Begin(*log, request)) << "still read-only";
  // A person takes it off, repairs it and mounts it again.
  ASSERT_EQ(Run({"umount", dir_ / "mnt"}), 0) << "nothing of ours may hold it";
  log->Tick();
  EXPECT_FALSE(Begin(*log, request)) << "nor is anything written below the mount point";
  (void)Run({"sh", "-c", "e2fsck -fy " + dir_ / "disk.img" + " >/dev/null 2>&1"});
  ASSERT_TRUE(Mount());
  log->Tick();
  const auto again = Begin(*log, request);
  EXPECT_TRUE(again) << again.error().message;
  std::map<std::string, int> state;
  uint64_t seq = 0;
  for (const auto& record : Records()) {
    EXPECT_EQ(record["seq"], ++seq);
    if (record["event"] != "note") state[record["id"].get<std::string>()] += record["event"] == "begin" ? 1 : 10;
  }
  for (const auto& id : ids) EXPECT_EQ(state[id], 11) << id;
  log.reset();
}

}  // namespace
}  // namespace beige
