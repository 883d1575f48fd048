// Exec in every form, through the control channel: streams, stdin, exit codes, signals, deadline, terminal, HTTP.
#include <gtest/gtest.h>

#include "e2e/home.h"

namespace beige::e2e {
namespace {
using nlohmann::json;

class ExecTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home = std::make_unique<Home>();
    home->Configure();
    home->AddAgent("a1", "tools: []");
    home->Up();
    home->WaitReady("a1");
  }
  static void TearDownTestSuite() { home.reset(); }
  json HttpExec(const json& body, int want_status = 200) {
    const Outcome r = home->Curl({"-w", "\n%{http_code}", "-H", "Content-Type: application/json", "-d", body.dump(),
                                  home->HttpBase() + "/v1/namespaces/default/agents/a1/exec"});
    const size_t cut = r.out.rfind('\n');
    EXPECT_EQ(r.out.substr(cut + 1), std::to_string(want_status)) << r.out << r.err;
    return json::parse(r.out.substr(0, cut), nullptr, false);
  }
  static std::unique_ptr<Home> home;
};
std::unique_ptr<Home> ExecTest::home;

TEST_F(ExecTest, StdoutAndStderrStaySeparateAndTheExitCodeIsTheCommandsOwn) {
  const Outcome r = home->Sh("a1", "echo out; echo err >&2; exit 42");
  EXPECT_EQ(r.out, "out\n");
  EXPECT_EQ(r.err, "err\n");
  EXPECT_EQ(r.status, 42);
}

TEST_F(ExecTest, StdinArrivesWithItsEndOfFile) {
  std::string big;
  for (int i = 0; i < 40000; ++i) big += "line " + std::to_string(i) + "\n";
  const Outcome r = home->Sh("a1", "wc -c | tr -d ' '", big);
  EXPECT_EQ(r.out, std::to_string(big.size()) + "\n") << r.err;
}

TEST_F(ExecTest, WithoutStdinACommandThatReadsEndsAtOnce) { EXPECT_EQ(home->Exec("a1", {"cat"}).status, 0); }

TEST_F(ExecTest, BinaryOutputPassesUnchanged) {
  const Outcome r = home->Sh("a1", "head -c 3000000 /dev/zero; printf '\\000\\377\\200x'");
  ASSERT_EQ(r.out.size(), 3000004u);
  EXPECT_EQ(r.out.substr(3000000), std::string("\0\xff\x80x", 4));
}

TEST_F(ExecTest, ACommandThatDoesNotExistIs127AndOneThatIsNotExecutable126) {
  const Outcome missing = home->Exec("a1", {"no-such-command"});
  EXPECT_EQ(missing.status, 127);
  EXPECT_NE(missing.err.find("no-such-command"), std::string::npos) << missing.err;
  EXPECT_EQ(home->Exec("a1", {"/etc/passwd"}).status, 126);
}

TEST_F(ExecTest, ASignalMapsTo128PlusItsNumber) { EXPECT_EQ(home->Sh("a1", "kill -TERM $$").status, 143); }

TEST_F(ExecTest, TheDeadlineEndsTheWholeTreeWith124) {
  const auto start = std::chrono::steady_clock::now();
  const Outcome r = home->Beige({"exec", "--timeout", "500ms", "a1", "--", "sh", "-c", "setsid sh -c 'exec sleep 4321' & sleep 4321"});
  EXPECT_EQ(r.status, 124) << r.err;
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(10));
  EXPECT_TRUE(Eventually([] { return home->Sh("a1", "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 432[1]'").out == "0\n"; }, seconds(10)));
}

TEST_F(ExecTest, ABackgroundChildDoesNotHoldTheExecOpen) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(home->Sh("a1", "sleep 30 & echo done").out, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
}

TEST_F(ExecTest, ATerminalIsATerminalWithTheCallersSize) {
  const Outcome r = RunProgram({"script", "-qec",
                                "stty rows 33 cols 111; " + std::string(BEIGE_BIN_DIR) + "/beige --home " + home->path() +
                                    " exec -it a1 -- sh -c 'tty && stty size'",
                                "/dev/null"});
  EXPECT_NE(r.out.find("/dev/pts/"), std::string::npos) << r.out << r.err;
  EXPECT_NE(r.out.find("33 111"), std::string::npos) << r.out;
}

TEST_F(ExecTest, OverHttpTheStreamsAndTheExitCodeComeAsJson) {
  const json r = HttpExec({{"command", {"sh", "-c", "cat; echo err >&2; exit 3"}}, {"stdin", "from stdin"}});
  EXPECT_EQ(r["exitCode"], 3);
  EXPECT_EQ(r["stdout"], "from stdin");
  EXPECT_EQ(r["stderr"], "err\n");
  EXPECT_EQ(r["encoding"], "utf8");
  EXPECT_EQ(r["signal"], nullptr);
}

TEST_F(ExecTest, OverHttpBinaryOutputComesAsBase64) {
  const json r = HttpExec({{"command", {"printf", "\\377\\376"}}});
  EXPECT_EQ(r["encoding"], "base64");
  EXPECT_EQ(r["stdout"], "//4=");
}

TEST_F(ExecTest, OverHttpADeadlineIs124AndBadInputNamesTheField) {
  EXPECT_EQ(HttpExec({{"command", {"sleep", "60"}}, {"timeout", "300ms"}})["exitCode"], 124);
  const json bad = HttpExec({{"command", "sh"}}, 400);
  EXPECT_EQ(bad["error"]["field"], "command");
  const json unknown = HttpExec({{"comand", {"sh"}}}, 400);
  EXPECT_NE(unknown["error"]["message"].get<std::string>().find("comand"), std::string::npos);
}

TEST_F(ExecTest, HttpNeedsTheToken) {
  const std::string url = home->HttpBase() + "/v1/namespaces/default/agents";
  EXPECT_EQ(RunProgram({"curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", url}).out, "401");
  EXPECT_EQ(RunProgram({"curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Authorization: Bearer wrong", url}).out, "401");
  const json list = json::parse(home->Curl({url}).out);
  EXPECT_EQ(list["items"].size(), 1u);
  EXPECT_EQ(RunProgram({"curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", home->HttpBase() + "/healthz"}).out, "200");
  EXPECT_EQ(RunProgram({"curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", home->HttpBase() + "/readyz"}).out, "200");
}

TEST_F(ExecTest, EveryExecIsAudited) {
  home->Exec("a1", {"echo", "to be audited"});
  const auto records = home->Audit();
  const auto begin = std::find_if(records.rbegin(), records.rend(), [](const json& x) { return x["event"] == "begin" && x["kind"] == "exec"; });
  ASSERT_NE(begin, records.rend());
  EXPECT_EQ((*begin)["tool"], "exec");
  EXPECT_EQ((*begin)["args"], json::array({"echo", "to be audited"}));
  EXPECT_EQ((*begin)["actor"], "local");
  EXPECT_EQ((*begin)["surface"], "exec");
}

TEST_F(ExecTest, UnknownAgentAndMissingGatewaySayWhatToDo) {
  const Outcome unknown = home->Exec("nobody", {"true"});
  EXPECT_EQ(unknown.status, 125);
  EXPECT_NE(unknown.err.find("nobody"), std::string::npos) << unknown.err;
  const Outcome away = RunProgram({std::string(BEIGE_BIN_DIR) + "/beige", "--home", "/tmp/bge2e-none", "exec", "a1", "--", "true"});
  EXPECT_EQ(away.status, 125);
  EXPECT_NE(away.err.find("beige up"), std::string::npos) << away.err;
}

}  // namespace
}  // namespace beige::e2e
