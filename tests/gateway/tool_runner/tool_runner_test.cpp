#include "gateway/sessions/tool_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "tests/gateway/core/core.h"
#include "tests/gateway/core/sandbox.h"

namespace beige::testing {
namespace {
using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// One home, one agent and one sandbox for all of them.
class ToolRunnerTest : public ::testing::Test {
 protected:
  struct Place {
    Place() {
      core.AddTool("kv", "#!/bin/sh\ncat\necho \"$BEIGE_SESSION\" \"$@\"\n");
      core.Configure();
      core.Grant("a1", {"kv"});
      EXPECT_TRUE(core.On([&] { return core.roster().Announce(Core::UidOf("a1"), "i1"); }));
      sandbox = std::make_unique<Sandbox>(core.paths(), Core::UidOf("a1"), "i1", workspace.path());
      EXPECT_TRUE(core.EventShows([](const admin::ToOperator& event) { return std::holds_alternative<admin::Registered>(event); }));
      core.On([&] { runner = std::make_unique<sessions::ToolRunner>(core.loop(), core.calls()); });
    }
    ~Place() {
      core.On([&] { runner.reset(); });
    }
    TempDir workspace;
    Core core;
    std::unique_ptr<Sandbox> sandbox;
    std::unique_ptr<sessions::ToolRunner> runner;
  };
  static void SetUpTestSuite() { place_ = std::make_unique<Place>(); }
  static void TearDownTestSuite() { place_.reset(); }

  sessions::ToolRunner::Call CallOf(const std::string& tool, const json& arguments) {
    sessions::ToolRunner::Call call;
    call.agent = Core::RefOf("a1");
    call.session = "s-1";
    call.call.name = tool;
    call.call.arguments = arguments.dump();
    return call;
  }
  std::future<sessions::ToolOutcome> Start(const std::string& tool, const json& arguments, std::string* shown = nullptr) {
    auto done = std::make_shared<std::promise<sessions::ToolOutcome>>();
    core().On([&] {
      last_ = runner().Run(
          CallOf(tool, arguments), [shown](int, std::string_view text) { if (shown != nullptr) shown->append(text); },
          [done](sessions::ToolOutcome outcome) { done->set_value(std::move(outcome)); });
    });
    return done->get_future();
  }
  sessions::ToolOutcome Run(const std::string& tool, const json& arguments) { return Start(tool, arguments).get(); }
  std::string Text(const std::string& tool, const json& arguments) { return Run(tool, arguments).text; }

  static Core& core() { return place_->core; }
  static sessions::ToolRunner& runner() { return *place_->runner; }
  static std::string Path(const std::string& name) { return place_->workspace.path() + "/" + name; }
  static std::string Content(const std::string& name) { return ReadFile(Path(name)).value_or("(none)"); }
  static void Put(const std::string& name, const std::string& text) { ASSERT_TRUE(WriteFileAtomic(Path(name), text, 0644)); }
  // Begin records of the newest calls.
  static json LastBegin() {
    json last;
    for (const auto& line : core().AuditLines()) {
      if (json record = json::parse(line); record["event"] == "begin") last = record;
    }
    return last;
  }

  static std::unique_ptr<Place> place_;
  sessions::ToolRunner::Id last_ = 0;
};
std::unique_ptr<ToolRunnerTest::Place> ToolRunnerTest::place_;

TEST_F(ToolRunnerTest, WritesPatchesAndReadsAFileInTheWorkspace) {
  auto outcome = Run("write", {{"path", "deep/er/notes.txt"}, {"content", "one\ntwo\nthree\n"}});
  EXPECT_EQ(outcome.text, "made deep/er/notes.txt, 14 bytes");
  EXPECT_FALSE(outcome.is_error);
  EXPECT_EQ(outcome.diff, "@@ -0,0 +1,3 @@\n+one\n+two\n+three\n");
  outcome = Run("patch", {{"path", "deep/er/notes.txt"}, {"oldText", "wo\nth"}, {"newText", "WO\nTH"}});
  EXPECT_EQ(outcome.text, "patched deep/er/notes.txt at line 2");
  EXPECT_EQ(outcome.diff, "@@ -2,2 +2,2 @@\n-two\n-three\n+tWO\n+THree\n");
  EXPECT_EQ(Content("deep/er/notes.txt"), "one\ntWO\nTHree\n");
  EXPECT_EQ(Text("read", {{"path", "/workspace/deep/er/notes.txt"}, {"offset", 2}, {"limit", 1}}), "tWO\n[lines 2 to 2 of 3; there are more: use offset=3 to go on]");
  outcome = Run("write", {{"path", "deep/er/notes.txt"}, {"content", "one\n2\nTHree\n"}});
  EXPECT_EQ(outcome.text, "replaced deep/er/notes.txt, 12 bytes");
  EXPECT_EQ(outcome.diff, "@@ -1,3 +1,3 @@\n one\n-tWO\n+2\n THree\n");
}

TEST_F(ToolRunnerTest, EachCallIsInTheAuditWithWhatWasAsked) {
  Put("a.txt", "x\n");
  (void)Run("read", {{"path", "a.txt"}});
  json begin = LastBegin();
  EXPECT_EQ(begin["kind"], "core_tool");
  EXPECT_EQ(begin["tool"], "read");
  EXPECT_EQ(begin["surface"], "llm");
  EXPECT_EQ(begin["actor"], "agent");
  EXPECT_EQ(begin["session"], "s-1");
  EXPECT_EQ(begin["decision"], "allow");
  EXPECT_EQ(begin["args"], json({"path=a.txt", "offset=1", "limit=2000"}));
  EXPECT_EQ(Text("read", {{"pth", "a.txt"}}), "read: pth: no such field; known here: path, offset, limit");
  begin = LastBegin();
  EXPECT_EQ(begin["decision"], "deny");
  EXPECT_EQ(begin["rule"], "arguments");
  const auto unknown = Run("rm_rf", {{"anything", 1}});
  EXPECT_TRUE(unknown.is_error);
  EXPECT_EQ(unknown.text, "rm_rf: unknown tool");
  begin = LastBegin();
  EXPECT_EQ(begin["kind"], "tool");
  EXPECT_EQ(begin["decision"], "deny");
  EXPECT_EQ(begin["rule"], "tools");
  EXPECT_NE(core().metrics().Render().find(R"(outcome="ok",surface="llm",tool="read"})"), std::string::npos);
}

TEST_F(ToolRunnerTest, ACoreToolThatTheAgentHasNotIsDeniedAndRunsNothing) {
  admin::Grant grant;
  grant.agent = Core::RefOf("a2");
  grant.core_tools = {"read"};
  ASSERT_TRUE(core().On([&] { return core().roster().Put(grant); }));
  auto call = CallOf("write", {{"path", "never.txt"}, {"content", "x"}});
  call.agent = grant.agent;
  std::promise<sessions::ToolOutcome> done;
  core().On([&] { runner().Run(call, nullptr, [&](sessions::ToolOutcome outcome) { done.set_value(std::move(outcome)); }); });
  const auto outcome = done.get_future().get();
  EXPECT_TRUE(outcome.is_error);
  EXPECT_EQ(outcome.text, "write: denied by policy: not in coreTools of agent a2");
}

TEST_F(ToolRunnerTest, ExecGivesBothStreamsInOrderAndItsEnd) {
  std::string shown;
  EXPECT_EQ(Start("exec", {{"command", "echo out; pwd; echo $BEIGE_SESSION_KEY; exit 3"}}, &shown).get().text, "out\n/workspace\ns-1\n[exit code 3]");
  EXPECT_EQ(shown, "out\n/workspace\ns-1\n");
  EXPECT_THAT(Text("exec", {{"command", "echo err >&2"}}), StartsWith("err\n[exit code 0]"));
  EXPECT_EQ(Text("exec", {{"command", "kill -9 $$"}}), "[no output; ended by signal 9]");
  EXPECT_EQ(Text("exec", {{"command", "cat; echo end of stdin"}}), "end of stdin\n[exit code 0]");
  EXPECT_EQ(Text("exec", {{"command", "printf 'a\\377\\000b'"}}), "a\xef\xbf\xbd\xef\xbf\xbd" "b\n[exit code 0]");
  const auto late = Run("exec", {{"command", "echo begun; sleep 1000"}, {"timeout", 1}});
  EXPECT_EQ(late.text, "begun\n[exec: timed out after 1s]");
  EXPECT_TRUE(late.is_error);
}

TEST_F(ToolRunnerTest, ALongOutputIsKeptInAFileThatTheAgentCanRead) {
  const auto outcome = Run("exec", {{"command", "seq 1 20000"}});
  EXPECT_THAT(outcome.text, StartsWith("1\n2\n3\n"));
  EXPECT_THAT(outcome.text, EndsWith("19999\n20000\n[exit code 0]"));
  EXPECT_LT(outcome.text.size(), 31000u);
  const size_t at = outcome.text.find("/tmp/beige-exec-");
  ASSERT_NE(at, std::string::npos);
  const std::string file = outcome.text.substr(at, outcome.text.find(' ', at) - at);
  EXPECT_THAT(LastBegin()["args"], json({"log=" + file}));
  EXPECT_THAT(Text("read", {{"path", file}, {"offset", 10000}, {"limit", 2}}), StartsWith("10000\n10001\n[lines 10000 to 10001 of 20000"));
  EXPECT_EQ(Text("exec", {{"command", "wc -l < " + file}}), "20000\n[exit code 0]");
}

TEST_F(ToolRunnerTest, OnlyTheLastLongOutputsAreKept) {
  std::vector<std::string> logs;
  for (int i = 0; i < 9; ++i) {
    const std::string text = Run("exec", {{"command", "echo run" + std::to_string(i) + "; seq 1 20000"}}).text;
    const size_t at = text.find("/tmp/beige-exec-");
    ASSERT_NE(at, std::string::npos);
    logs.push_back(text.substr(at, text.find(' ', at) - at));
  }
  EXPECT_EQ(logs[0], logs[8]);
  EXPECT_EQ(std::set<std::string>(logs.begin(), logs.end()).size(), 8u);
  EXPECT_EQ(Text("exec", {{"command", "head -n 1 " + logs[8] + "; rm -f /tmp/beige-exec-?.log"}}), "run8\n[exit code 0]");
}

TEST_F(ToolRunnerTest, AGrantedToolGetsItsArgumentsAndStdin) {
  const auto outcome = Run("kv", {{"args", {"get", "a b"}}, {"stdin", std::string(200000, 'x') + "\n"}});
  EXPECT_THAT(outcome.text, HasSubstr(" of 200013 bytes left out; all of it is in /tmp/beige-exec-"));
  EXPECT_THAT(outcome.text, EndsWith("\ns-1 get a b\n[exit code 0]"));
  EXPECT_EQ(Text("kv", json::object()), "s-1\n[exit code 0]");
}

TEST_F(ToolRunnerTest, CancellingKillsWhatRunsAndTellsNothing) {
  auto never = Start("exec", {{"command", "sleep 1000"}});
  EXPECT_TRUE(Eventually([&] { return core().On([&] { return core().calls().InFlight(Core::UidOf("a1")); }) == 1; }));
  core().On([&] { runner().Cancel(last_); });
  EXPECT_TRUE(Eventually([&] { return core().On([&] { return core().calls().InFlight(Core::UidOf("a1")); }) == 0; }));
  EXPECT_TRUE(core().AuditShows([](const auto& lines) { return json::parse(lines.back())["outcome"] == "cancelled"; }));
  // From within its own output.
  std::promise<void> seen;
  core().On([&] {
    last_ = runner().Run(
        CallOf("exec", {{"command", "while :; do echo x; done"}}), [&](int, std::string_view) { runner().Cancel(last_), seen.set_value(); },
        [](sessions::ToolOutcome) { FAIL(); });
  });
  seen.get_future().get();
  EXPECT_TRUE(Eventually([&] { return core().On([&] { return core().calls().InFlight(Core::UidOf("a1")); }) == 0; }));
}

TEST_F(ToolRunnerTest, AnImageComesWhole) {
  std::string png = "\x89PNG\r\n\x1a\n";
  for (int i = 0; i < 300000; ++i) png += static_cast<char>(i * 7);
  Put("a.png", png);
  const auto outcome = Run("read", {{"path", "a.png"}});
  ASSERT_EQ(outcome.images.size(), 1u) << outcome.text;
  EXPECT_EQ(outcome.images[0].bytes, png);
}

// What an agent may plant: nothing of it holds a call up, and nothing reaches out of the sandbox.
TEST_F(ToolRunnerTest, PlantedFifosDevicesAndLinksLeadNowhere) {
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0666), 0);
  std::filesystem::create_symlink("/dev/zero", Path("zero"));
  std::filesystem::create_symlink("loop", Path("loop"));
  EXPECT_EQ(Text("read", {{"path", "fifo"}}), "fifo: is a FIFO, not a file");
  EXPECT_EQ(Text("read", {{"path", "zero"}}), "zero: is a device, not a file");
  EXPECT_THAT(Text("read", {{"path", "loop"}}), StartsWith("loop: "));
  EXPECT_EQ(Text("read", {{"path", "/beige/gateway.sock"}}), "/beige/gateway.sock: is a socket, not a file");
  EXPECT_EQ(Text("write", {{"path", "fifo"}, {"content", "x"}}), "fifo: is a FIFO, not a file");
  EXPECT_EQ(Text("patch", {{"path", "zero"}, {"oldText", "x"}, {"newText", "y"}}), "zero: is a device, not a file");
  // A link that leads to a file of the host: within the sandbox that path is another one, or none.
  TempDir outside;
  ASSERT_TRUE(WriteFileAtomic(outside / "secret", "of the host", 0666));
  std::filesystem::create_symlink(outside / "secret", Path("way-out"));
  EXPECT_THAT(Text("read", {{"path", "way-out"}}), HasSubstr("No such file"));
  (void)Run("write", {{"path", "way-out"}, {"content", "taken over"}});
  EXPECT_EQ(ReadFile(outside / "secret").value_or(""), "of the host");
  EXPECT_THAT(Text("write", {{"path", "/usr/bin/sh"}, {"content", "x"}}), HasSubstr("/usr/bin/sh: "));
  EXPECT_TRUE(Run("write", {{"path", "../../etc/passwd"}, {"content", "x"}}).text.find("host") == std::string::npos);
}

TEST_F(ToolRunnerTest, PatchesOfOneFileAtTheSameTimeAllCount) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "<" + std::to_string(i) + ">\n";
  Put("many.txt", text);
  std::vector<std::future<sessions::ToolOutcome>> all;
  for (int i = 0; i < 12; ++i) all.push_back(Start("patch", {{"path", "many.txt"}, {"oldText", "<" + std::to_string(i) + ">"}, {"newText", "done"}}));
  for (auto& one : all) {
    const auto outcome = one.get();
    EXPECT_FALSE(outcome.is_error) << outcome.text;
  }
  std::string want;
  for (int i = 0; i < 12; ++i) want += "done\n";
  EXPECT_EQ(Content("many.txt"), want);
}

}  // namespace
}  // namespace beige::testing
