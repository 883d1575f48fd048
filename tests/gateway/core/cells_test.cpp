#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "base/files.h"
#include "base/landlock.h"
#include "base/spawn.h"
#include "base/unix_socket.h"
#include "gateway/tools/cell_recipe.h"
#include "gateway/tools/confinement.h"
#include "tests/gateway/core/client.h"
#include "tests/gateway/core/core.h"

namespace beige::testing {
namespace {
using nlohmann::json;

// Processes of the host whose command line holds `text`.
std::vector<pid_t> ProcessesWith(const std::string& text) {
  std::vector<pid_t> pids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto line = ReadFile(entry.path().string() + "/cmdline");
    if (line && line->find(text) != std::string::npos) pids.push_back(std::stoi(name));
  }
  return pids;
}

class CellsTest : public ::testing::Test {
 protected:
  ToolManifest& Tool(const std::string& name, const std::string& script) {
    names_.push_back(name);
    return core_.AddTool(name, "#!/bin/sh\n" + script + "\n");
  }
  void Ready() {
    core_.Configure();
    core_.Grant("a1", names_);
  }
  std::string Socket() const { return core_.SocketOf("a1"); }
  json V1(const std::string& tool, std::vector<std::string> args = {}) { return Client(Socket()).Call(tool, std::move(args)); }
  V2Client::Outcome V2(const std::string& tool, const std::vector<std::string>& args = {}) {
    V2Client client(Socket(), BGE_ROLE_CALLER);
    client.Call(1, tool, args);
    return client.Finish(1);
  }
  bool LastEndIs(const std::string& outcome) {
    return core_.AuditShows([&](const auto& lines) {
      return std::any_of(lines.begin(), lines.end(), [&](const auto& line) {
        const json record = json::parse(line);
        return record["event"] == "end" && record["outcome"] == outcome;
      });
    });
  }

  Core core_;
  std::vector<std::string> names_;
};

TEST_F(CellsTest, StreamsStayApartAndTheExitStatusIsTheTools) {
  Tool("t", "echo out \"$@\"; echo err >&2; exit 3");
  Ready();
  const auto outcome = V2("t", {"a b", "", "\xFF\n"});
  EXPECT_EQ(outcome.out, "out a b  \xFF\n\n");
  EXPECT_EQ(outcome.err, "err\n");
  EXPECT_EQ(outcome.exit, (v2::Exit{BGE_HOW_EXITED, 3, ""}));
  const json answer = V1("t");
  EXPECT_EQ(answer["output"], "out\n");
  EXPECT_EQ(answer["stderr"], "err\n");
  EXPECT_EQ(answer["exitCode"], 3);
  EXPECT_EQ(answer["success"], false);
  EXPECT_TRUE(LastEndIs("error"));
}

TEST_F(CellsTest, AnAllowedCallIsOneBeginAndOneEndWithSizes) {
  Tool("t", "cat; echo 12345; echo e >&2");
  Ready();
  V2Client client(Socket(), BGE_ROLE_CALLER);
  client.Call(1, "t", {"x"}, true);
  client.Send(1, BGE_STDIN, "abc");
  client.Send(1, BGE_STDIN, "");
  EXPECT_EQ(client.Finish(1).out, "abc12345\n");
  const auto lines = core_.AuditLines();
  const json begin = json::parse(lines.at(lines.size() - 2));
  const json end = json::parse(lines.back());
  EXPECT_EQ(begin["decision"], "allow");
  EXPECT_EQ(begin["rule"], "tools");
  EXPECT_EQ(begin["args"], json({"x"}));
  EXPECT_EQ(end["id"], begin["id"]);
  EXPECT_EQ(end["outcome"], "ok");
  EXPECT_EQ(end["stdinBytes"], 3);
  EXPECT_EQ(end["stdoutBytes"], 9);
  EXPECT_EQ(end["stderrBytes"], 2);
  EXPECT_GT(end["durationUs"], 0);
}

TEST_F(CellsTest, APythonToolSeesItsArguments) {
  ToolManifest& tool = core_.AddTool("py", "#!/usr/bin/python3\nimport sys, json\nprint(json.dumps(sys.argv[1:]))\n");
  names_.push_back(tool.name);
  Ready();
  EXPECT_EQ(json::parse(V2("py", {"one", "two words", "-x", "'\"$(id)"}).out), json({"one", "two words", "-x", "'\"$(id)"}));
}

TEST_F(CellsTest, StdinOfMoreThanOneWindowArrivesWhole) {
  Tool("count", "cksum; echo done");
  Tool("copy", "exec cat");
  Ready();
  std::string input;
  for (int i = 0; input.size() < 700000; ++i) input += std::to_string(i * 7919);
  V2Client client(Socket(), BGE_ROLE_CALLER);
  client.Call(1, "copy", {}, true);
  size_t sent = 0;
  size_t credit = BGE_WINDOW_INITIAL;
  std::string out;
  bool eof = false;
  for (;;) {
    while (credit > 0 && sent < input.size()) {
      const size_t n = std::min({credit, input.size() - sent, size_t{BGE_CHUNK}});
      client.Send(1, BGE_STDIN, std::string_view(input).substr(sent, n));
      sent += n;
      credit -= n;
    }
    if (sent == input.size() && !std::exchange(eof, true)) client.Send(1, BGE_STDIN, "");
    const auto frame = client.Next();
    ASSERT_TRUE(frame);
    if (frame->header.kind == BGE_WINDOW && frame->header.stream == 0) credit += *v2::DecodeWindow(frame->payload);
    if (frame->header.kind == BGE_STDOUT) {
      out += frame->payload;
      std::string window;
      v2::AppendWindow(window, 1, 1, frame->header.length);
      client.raw().Send(window);
    }
    if (frame->header.kind == BGE_EXIT) break;
  }
  EXPECT_EQ(out, input);
}

TEST_F(CellsTest, MoreStdinThanTheWindowEndsThatCall) {
  Tool("slow", "exec sleep 1000");
  Ready();
  V2Client client(Socket(), BGE_ROLE_CALLER);
  client.Call(1, "slow", {}, true);
  for (int i = 0; i < 3; ++i) client.Send(1, BGE_STDIN, std::string(BGE_CHUNK, 'x'));
  const auto outcome = client.Finish(1);
  EXPECT_EQ(outcome.exit.code, 125);
  EXPECT_NE(outcome.exit.text.find("protocol error"), std::string::npos);
}

TEST_F(CellsTest, WithoutStdinAToolReadsNothingAndDoesNotHang) {
  Tool("t", "cat; echo end");
  Ready();
  EXPECT_EQ(V1("t")["output"], "end\n");
}

TEST_F(CellsTest, ThreeMegabytesOfBinaryOutputArriveWhole) {
  Tool("t", "head -c 3000000 /dev/zero | tr '\\000' '\\377'; printf '\\000\\001'");
  Ready();
  const auto outcome = V2("t");
  ASSERT_EQ(outcome.out.size(), 3000002u);
  EXPECT_EQ(outcome.out.find_first_not_of('\xFF'), 3000000u);
  EXPECT_EQ(outcome.out.substr(3000000), std::string("\0\1", 2));
}

TEST_F(CellsTest, ASlowReaderHoldsUpItsOwnToolAndNobodyElse) {
  Tool("flood", "exec cat /dev/zero");
  Tool("quick", "echo quick");
  Ready();
  V2Client slow(Socket(), BGE_ROLE_CALLER);
  slow.Call(1, "flood");
  size_t got = 0;
  while (got < BGE_WINDOW_INITIAL) got += slow.NextOf(BGE_STDOUT)->payload.size();
  EXPECT_EQ(got, size_t{BGE_WINDOW_INITIAL}) << "no more than the credit";
  // The tool's exit comes behind all of its output, so it waits for a reader too.
  for (int i = 0; i < 20; ++i) ASSERT_EQ(V2("quick").out, "quick\n");
  slow.Send(1, BGE_SIGNAL, "\x0F");
  std::string credit;
  v2::AppendWindow(credit, 1, 1, BGE_WINDOW_INITIAL);
  slow.raw().Send(credit);
  EXPECT_EQ(slow.Finish(1).exit, (v2::Exit{BGE_HOW_SIGNALED, 15, ""}));
}

TEST_F(CellsTest, SignalsReachTheTool) {
  Tool("t", "trap 'echo got; exit 7' TERM; echo ready; while :; do sleep 0.05; done");
  Ready();
  V2Client client(Socket(), BGE_ROLE_CALLER);
  client.Call(1, "t");
  ASSERT_EQ(client.NextOf(BGE_STDOUT)->payload, "ready\n");
  client.Send(1, BGE_SIGNAL, "\x0F");
  const auto outcome = client.Finish(1);
  EXPECT_EQ(outcome.out, "got\n");
  EXPECT_EQ(outcome.exit.code, 7);
}

TEST_F(CellsTest, ADeadlineEndsTheWholeTreeEvenWhatLeftItsSession) {
  Tool("t", "setsid sleep 987.123 & setsid setsid sleep 987.123 & sleep 987.123").timeout = std::chrono::milliseconds(400);
  Ready();
  const auto outcome = V2("t");
  EXPECT_EQ(outcome.exit, (v2::Exit{BGE_HOW_TIMEOUT, 124, "t: timed out after 400ms"}));
  EXPECT_TRUE(Eventually([] { return ProcessesWith("987.123").empty(); }));
  EXPECT_TRUE(LastEndIs("timeout"));
}

TEST_F(CellsTest, ACallerThatGoesAwayTakesTheWholeTreeWithIt) {
  Tool("t", "setsid sleep 987.456 & echo ready; sleep 987.456");
  Ready();
  {
    V2Client client(Socket(), BGE_ROLE_CALLER);
    client.Call(1, "t");
    ASSERT_EQ(client.NextOf(BGE_STDOUT)->payload, "ready\n");
    // A forked shell has the name of the script until it has become the sleep.
    ASSERT_TRUE(Eventually([] { return ProcessesWith("987.456").size() == 2; }));
  }
  EXPECT_TRUE(Eventually([] { return ProcessesWith("987.456").empty(); }));
  EXPECT_TRUE(LastEndIs("cancelled"));
  {
    Client v1(Socket());
    v1.Send("{\"type\":\"tool_request\",\"tool\":\"t\"}\n");
    ASSERT_TRUE(Eventually([] { return !ProcessesWith("987.456").empty(); }));
    v1.ShutdownWriting();
  }
  EXPECT_TRUE(Eventually([] { return ProcessesWith("987.456").empty(); })) << "a half-closed one too";
}

TEST_F(CellsTest, ABackgroundChildThatHoldsStdoutDoesNotKeepTheCallOpen) {
  Tool("t", "sleep 987.789 & echo done");
  Ready();
  EXPECT_EQ(V2("t").out, "done\n");
  EXPECT_TRUE(Eventually([] { return ProcessesWith("987.789").empty(); }));
}

TEST_F(CellsTest, ASecretIsSeenByTheToolAndOnNoCommandLine) {
  ToolManifest& tool = Tool("t", "echo \"$KV_TOKEN\"; sleep 0.2");
  tool.secrets["KV_TOKEN"] = Secret("s3cr3t-value-4711");
  Ready();
  std::atomic<bool> done{false};
  std::atomic<bool> found{false};
  std::thread watcher([&] {
    while (!done) {
      if (!ProcessesWith("s3cr3t-value-4711").empty()) found = true;
    }
  });
  EXPECT_EQ(V2("t").out, "s3cr3t-value-4711\n");
  done = true;
  watcher.join();
  EXPECT_FALSE(found);
  for (const auto& line : core_.AuditLines()) EXPECT_EQ(line.find("s3cr3t"), std::string::npos);
}

TEST_F(CellsTest, TheEnvironmentIsCleanAndSaysWhoCalls) {
  ::setenv("HOST_SECRET_OF_TEST", "leak", 1);
  ToolManifest& tool = Tool("t", "env | sort; echo \"cwd=$(pwd)\"");
  tool.env["KV_DIR"] = "${BEIGE_TOOL_DATA}/x-${BEIGE_AGENT}";
  Ready();
  Client client(Socket());
  const json answer = client.Ask({{"type", "tool_request"}, {"tool", "t"}, {"sessionContext", {{"sessionKey", "s1"}}}});
  const std::string out = answer["output"];
  EXPECT_EQ(out.find("HOST_SECRET"), std::string::npos);
  for (const char* line : {"BEIGE_AGENT=a1\n", "BEIGE_SESSION=s1\n", "BEIGE_TOOL_DATA=/data\n", "HOME=/scratch\n", "LANG=C.UTF-8\n", "KV_DIR=/data/x-a1\n", "cwd=/scratch\n", "BEIGE_CALL_ID="}) {
    EXPECT_NE(out.find(line), std::string::npos) << line << " in\n" << out;
  }
  EXPECT_EQ(json::parse(core_.AuditLines().back())["id"], out.substr(out.find("BEIGE_CALL_ID=") + 14, 26));
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find('='));
    const std::vector<std::string> known{"BEIGE_AGENT", "BEIGE_CALL_ID", "BEIGE_SESSION", "BEIGE_TOOL_DATA", "HOME", "KV_DIR", "LANG", "PATH", "PWD", "OLDPWD", "SHLVL", "_", "cwd"};
    EXPECT_NE(std::find(known.begin(), known.end(), name), known.end()) << line;
  }
}

TEST_F(CellsTest, OnlyTheToolsOwnFolderAndDataAreThere) {
  Tool("t", "for p in /etc/shadow /etc/hostname " + core_.paths().home() + " /home /root /workspace /var /run /beige/gateway.sock; do test -e $p && echo \"sees $p\"; done\n"
            "touch /tool/x 2>/dev/null && echo wrote /tool\n"
            "touch /usr/x 2>/dev/null && echo wrote /usr\n"
            "touch /x 2>/dev/null && echo wrote /\n"
            "touch /beige/bin/x 2>/dev/null && echo wrote /beige\n"
            "for p in /proc/sys/kernel/hostname /proc/sysrq-trigger /proc/sys/vm/drop_caches; do test -w $p && (: >> $p) 2>/dev/null && echo \"opens $p\"; done\n"
            "test -s /proc/kmsg && echo sees kmsg; find /proc/sys -writable -type f 2>/dev/null | head -3\n"
            "ls /tool; cat /data/count 2>/dev/null; echo one >> /data/count; touch /scratch/s /tmp/t && echo scratch; grep Cap /proc/self/status | grep -v '0000000000000000'; true");
  Ready();
  EXPECT_EQ(V2("t").out, "main\nscratch\n");
  EXPECT_EQ(V2("t").out, "main\none\nscratch\n") << "data stays";
  EXPECT_EQ(ReadFile(core_.paths().ToolData(Core::UidOf("a1"), "t") + "/count").value_or(""), "one\none\n");
}

TEST_F(CellsTest, UsersAndAlternativesWorkInside) {
  Tool("t", "id -un >/dev/null && echo name; echo 'a b' | awk '{print $2}'; python3 -c 'import os,pwd; print(pwd.getpwuid(os.getuid()).pw_dir)'");
  Ready();
  EXPECT_EQ(V2("t").out, "name\nb\n/scratch\n");
}

TEST_F(CellsTest, NetworkNoneHasOnlyLoopback) {
  Tool("none", "cut -d: -f1 -s /proc/net/dev | tr -d ' ' | grep -v '|'; test -e /etc/resolv.conf && echo resolv; true");
  Tool("host", "cat /proc/net/dev | wc -l; readlink /proc/self/ns/net").network = ToolNetwork::kHost;
  Ready();
  EXPECT_EQ(V2("none").out, "lo\n");
  const std::string own = std::filesystem::read_symlink("/proc/self/ns/net").string();
  EXPECT_NE(V2("host").out.find(own), std::string::npos);
}

TEST_F(CellsTest, ACellThatDiesIsReplacedAndItsCallsFailWithOneClearError) {
  Tool("t", "echo ready; sleep 987.321; true");
  Tool("u", "echo u");
  Ready();
  V2Client client(Socket(), BGE_ROLE_CALLER);
  client.Call(1, "t");
  ASSERT_EQ(client.NextOf(BGE_STDOUT)->payload, "ready\n");
  const auto cells = ProcessesWith(core_.paths().home() + "/tools/t");
  ASSERT_FALSE(cells.empty());
  for (const pid_t pid : cells) ::kill(pid, SIGKILL);
  const auto outcome = client.Finish(1);
  EXPECT_EQ(outcome.exit.how, BGE_HOW_LOST);
  EXPECT_EQ(outcome.exit.code, 125);
  EXPECT_NE(outcome.exit.text.find("t: lost: its cell ended"), std::string::npos) << outcome.exit.text;
  EXPECT_TRUE(LastEndIs("lost"));
  EXPECT_TRUE(Eventually([] { return ProcessesWith("987.321").empty(); }));
  client.Call(2, "t");
  EXPECT_EQ(client.NextOf(BGE_STDOUT)->payload, "ready\n");
  EXPECT_EQ(V2("u").out, "u\n");
}

TEST_F(CellsTest, RevokingAToolEndsItsCalls) {
  Tool("t", "echo ready; sleep 987.654");
  Ready();
  V2Client client(Socket(), BGE_ROLE_CALLER);
  client.Call(1, "t");
  ASSERT_EQ(client.NextOf(BGE_STDOUT)->payload, "ready\n");
  core_.Grant("a1", {});
  EXPECT_EQ(client.Finish(1).exit.how, BGE_HOW_LOST);
  EXPECT_TRUE(Eventually([&] { return ProcessesWith("987.654").empty() && ProcessesWith(core_.paths().home() + "/tools/t").empty(); }));
  EXPECT_EQ(V2("t").exit.code, 126);
}

TEST_F(CellsTest, AChangedManifestGetsANewCellAndRunningCallsFinishInTheOldOne) {
  Tool("t", "echo $WHICH; cat >/dev/null; echo end").env["WHICH"] = "old";
  Ready();
  V2Client client(Socket(), BGE_ROLE_CALLER);
  client.Call(1, "t", {}, true);
  ASSERT_EQ(client.NextOf(BGE_STDOUT)->payload, "old\n");
  core_.AddTool("t", "#!/bin/sh\necho $WHICH; cat >/dev/null; echo end\n").env["WHICH"] = "new";
  core_.Configure();
  EXPECT_EQ(V2("t").out, "new\nend\n");
  client.Send(1, BGE_STDIN, "");
  const auto outcome = client.Finish(1);
  EXPECT_EQ(outcome.out, "end\n");
  EXPECT_EQ(outcome.exit.how, BGE_HOW_EXITED);
  EXPECT_TRUE(Eventually([&] { return ProcessesWith("WHICH").size() <= 2; })) << "the old cell goes";
}

TEST_F(CellsTest, AToolWhoseCellCantBeMadeIsUnavailableWithTheReason) {
  Tool("t", "echo t").folder += "-gone";
  Ready();
  EXPECT_TRUE(core_.EventShows([](const admin::ToOperator& event) {
    const auto* in_force = std::get_if<admin::InForce>(&event);
    return in_force != nullptr && in_force->tools.empty() && in_force->unavailable_tools.contains("t") &&
           in_force->unavailable_tools.at("t").find("No such file or directory") != std::string::npos;
  }));
  const auto outcome = V2("t");
  EXPECT_EQ(outcome.exit.how, BGE_HOW_DENIED);
  EXPECT_EQ(outcome.exit.code, 126);
  EXPECT_NE(outcome.exit.text.find("t: unavailable: its cell"), std::string::npos) << outcome.exit.text;
  EXPECT_EQ(json::parse(core_.AuditLines().back())["rule"], "cells");
  // Once it can be made it is there again, without anybody's help.
  ASSERT_TRUE(MakeDirs(core_.paths().home() + "/tools/t-gone", 0755));
  std::filesystem::copy_file(core_.paths().home() + "/tools/t/main", core_.paths().home() + "/tools/t-gone/main");
  EXPECT_TRUE(core_.EventShows([](const admin::ToOperator& event) {
    const auto* in_force = std::get_if<admin::InForce>(&event);
    return in_force != nullptr && in_force->tools == std::vector<std::string>{"t"} && in_force->unavailable_tools.empty();
  }));
}

TEST_F(CellsTest, AProgramThatIsNotThereSaysSo) {
  Tool("t", "true").command = {"no-such-program"};
  Ready();
  const auto outcome = V2("t");
  EXPECT_EQ(outcome.exit.how, BGE_HOW_FAILED);
  EXPECT_EQ(outcome.exit.code, 127);
  EXPECT_NE(outcome.exit.text.find("no-such-program"), std::string::npos);
}

TEST_F(CellsTest, CallsBeyondTheLimitAreRefusedByNameAndAudited) {
  core_.config.limits.calls = 2;
  Tool("t", "echo ready; cat >/dev/null");
  Ready();
  V2Client client(Socket(), BGE_ROLE_CALLER);
  client.Call(1, "t", {}, true);
  client.Call(2, "t", {}, true);
  client.NextOf(BGE_STDOUT);
  client.NextOf(BGE_STDOUT);
  const auto third = V2("t");
  EXPECT_EQ(third.exit.how, BGE_HOW_DENIED);
  EXPECT_NE(third.exit.text.find("the limit is 2"), std::string::npos);
  EXPECT_EQ(json::parse(core_.AuditLines().back())["rule"], "limits");
  client.Send(1, BGE_STDIN, "");
  EXPECT_EQ(client.Finish(1).exit.how, BGE_HOW_EXITED);
  V2Client again(Socket(), BGE_ROLE_CALLER);
  again.Call(1, "t", {}, true);
  EXPECT_EQ(again.NextOf(BGE_STDOUT)->payload, "ready\n");
}

TEST_F(CellsTest, AgentsHaveCellsAndDataOfTheirOwn) {
  Tool("t", "cat /data/who 2>/dev/null; echo $BEIGE_AGENT > /data/who; readlink /proc/self/ns/pid");
  Ready();
  core_.Grant("a2", {"t"});
  const std::string first = V2("t").out;
  const std::string other = Client(core_.SocketOf("a2")).Call("t")["output"];
  EXPECT_EQ(other.find("a1"), std::string::npos);
  EXPECT_NE(first, other);
  EXPECT_EQ(V2("t").out, "a1\n" + first);
}

TEST_F(CellsTest, ManyCallsAtOnceAllComeThrough) {
  Tool("t", "echo $1");
  Ready();
  V2Client client(Socket(), BGE_ROLE_CALLER);
  for (uint32_t i = 1; i <= 60; ++i) client.Call(i, "t", {std::to_string(i)});
  std::map<uint32_t, std::string> out;
  size_t ended = 0;
  while (ended < 60) {
    const auto frame = client.Next();
    ASSERT_TRUE(frame);
    if (frame->header.kind == BGE_STDOUT) out[frame->header.call] += frame->payload;
    if (frame->header.kind == BGE_EXIT) {
      ++ended;
      EXPECT_EQ(*v2::DecodeExit(frame->payload), (v2::Exit{BGE_HOW_EXITED, 0, ""}));
    }
  }
  for (uint32_t i = 1; i <= 60; ++i) EXPECT_EQ(out[i], std::to_string(i) + "\n");
}

TEST_F(CellsTest, NoToolGetsToNewNamespacesOrMounts) {
  Tool("t", "unshare -Ur true 2>/dev/null && echo user; unshare -n true 2>/dev/null && echo net; mount -t tmpfs x /tmp 2>/dev/null && echo mount\n"
            "bwrap --ro-bind / / true 2>/dev/null && echo bwrap; grep -c Seccomp:.2 /proc/self/status");
  Ready();
  EXPECT_EQ(V2("t").out, "1\n");
}

TEST_F(CellsTest, LandlockLetsNothingBeWrittenWhereNoToolWrites) {
  if (LandlockVersion() == 0) GTEST_SKIP() << DescribeConfinement("/usr/bin/bwrap");
  Tool("t", "for p in /dev/x /dev/pts/x /proc/x /x /etc/x; do touch $p 2>/dev/null && echo \"made $p\"; done; echo x >/dev/null && touch /dev/shm/x && echo end");
  Ready();
  EXPECT_EQ(V2("t").out, "end\n");
}

// An abstract socket belongs to a network namespace, and that is the host's where the manifest says so.
TEST_F(CellsTest, TheHostsAbstractSocketsStayOutOfReachEvenWithItsNetwork) {
  if (LandlockVersion() < 6) GTEST_SKIP() << DescribeConfinement("/usr/bin/bwrap");
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::string name = "beige-test-" + std::to_string(::getpid());
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  name.copy(address.sun_path + 1, name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  Tool("t", "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('\\0" + name + "'); print('connected')\" 2>&1 | tail -1").network = ToolNetwork::kHost;
  Ready();
  EXPECT_EQ(V2("t").out, "PermissionError: [Errno 1] Operation not permitted\n");
}

TEST_F(CellsTest, WhatAToolCanHoldOfMemoryIsBounded) {
  Tool("t", "df -k --output=size /tmp /scratch /dev/shm | tail -3 | tr -d ' '; python3 -c 'bytearray(3 << 30)' 2>&1 | tail -1; python3 -c 'print(len(bytearray(100 << 20)))'; cat /proc/self/oom_score_adj");
  Ready();
  EXPECT_EQ(V2("t").out, "262144\n262144\n262144\nMemoryError\n104857600\n700\n");
}

TEST_F(CellsTest, WhatAllProcessesOfACellHoldTogetherIsBoundedAndEndsTheLargestCallAlone) {
  core_.AddTool("bomb", "#!/usr/bin/python3\nimport os, time\nfor i in range(6):\n  if os.fork() == 0: break\nhold = bytearray(b'x') * (600 << 20)\ntime.sleep(1000)\n");
  names_.push_back("bomb");
  Tool("quick", "echo quick");
  Ready();
  V2Client other(Socket(), BGE_ROLE_CALLER);
  other.Call(1, "quick");
  const auto outcome = V2("bomb");
  EXPECT_EQ(outcome.exit, (v2::Exit{BGE_HOW_FAILED, 125, "bomb: ended: its cell used more than 2048 MiB of memory"}));
  EXPECT_EQ(other.Finish(1).out, "quick\n");
  EXPECT_TRUE(Eventually([&] { return ProcessesWith("/tool/main").empty(); }));
  EXPECT_EQ(V2("quick").out, "quick\n");
}

TEST_F(CellsTest, WhatProcessesShareCountsOnce) {
  core_.AddTool("share", "#!/usr/bin/python3\nimport os, time\nhold = bytearray(b'x') * (300 << 20)\nfor i in range(12):\n  if os.fork() == 0:\n    time.sleep(1.5)\n    os._exit(0)\nfor i in range(12): os.wait()\nprint('shared')\n");
  names_.push_back("share");
  Ready();
  EXPECT_EQ(V2("share").out, "shared\n");
}

TEST_F(CellsTest, AToolGivesWayToWhateverElseTheMachineHasToDo) {
  Tool("t", "nice");
  Ready();
  EXPECT_EQ(V2("t").out, std::to_string(std::max(10, ::getpriority(PRIO_PROCESS, 0))) + "\n");
}

TEST_F(CellsTest, AConfinementThatTheHostLacksMakesToolsUnavailableUntilLessIsAllowed) {
  Tool("t", "echo t");
  core_.config.min_confinement = Confinement::kLandlock;
  Ready();
  if (LandlockVersion() != 0) {
    EXPECT_EQ(V2("t").out, "t\n");
  } else {
    EXPECT_NE(V2("t").exit.text.find("tools.minConfinement"), std::string::npos);
  }
  core_.config.min_confinement = Confinement::kNamespaces;
  core_.Configure();
  EXPECT_EQ(V2("t").out, "t\n");
}

// bubblewrap between the birth of the cell's first process and the uid map that this one waits for: it is held there.
class HalfMadeCellTest : public CellsTest {
 protected:
  HalfMadeCellTest() : path_(::getenv("PATH")) {
    const std::string real = FindBubblewrap();
    const std::string directory = core_.paths().home() + "/bin";
    (void)MakeDirs(directory, 0755);
    EXPECT_EQ(::mkfifo((directory + "/never").c_str(), 0600), 0);
    std::ofstream(directory + "/bwrap") << "#!/bin/sh\nexec " << real << " --info-fd 8 --userns-block-fd 9 \"$@\" 8>>" << directory << "/info 9<>" << directory << "/never\n";
    ::chmod((directory + "/bwrap").c_str(), 0755);
    ::setenv("PATH", (directory + ":" + path_).c_str(), 1);
    core_.Restart();
    ::setenv("PATH", path_.c_str(), 1);
    Tool("t", "echo t");
    Ready();
  }
  // The two processes that one attempt has.
  std::vector<pid_t> Processes() const { return ProcessesWith(core_.paths().DataGateway() + "/tools/"); }
  bool Held() {
    return Eventually([&] { return Processes().size() == 2; });
  }
  const std::string path_;
};

TEST_F(HalfMadeCellTest, LeavesNothingWhenItsToolIsTakenAway) {
  ASSERT_TRUE(Held());
  core_.Grant("a1", {});
  EXPECT_TRUE(Eventually([&] { return Processes().empty(); }));
}

TEST_F(HalfMadeCellTest, LeavesNothingWhenTheGatewayEnds) {
  ASSERT_TRUE(Held());
  core_.Restart();  // finds the real bubblewrap
  EXPECT_EQ(V2("t").out, "t\n");
  core_.Grant("a1", {});
  EXPECT_TRUE(Eventually([&] { return Processes().empty(); }));
}

TEST_F(HalfMadeCellTest, IsEndedByTheNextGatewayWhenTheOuterHalfWasKilled) {
  ASSERT_TRUE(Held());
  const auto both = Processes();
  const auto inner = std::max(both[0], both[1]);
  // As the kernel does when the gateway is killed. The gateway of this test lives on and tries again, hence the grant is taken first.
  core_.Grant("a1", {});
  ::kill(std::min(both[0], both[1]), SIGKILL);
  EXPECT_TRUE(Eventually([&] { return Processes() == std::vector<pid_t>{inner}; })) << "a stray, as the fault makes it";
  core_.Restart();
  EXPECT_TRUE(Eventually([&] { return Processes().empty(); }));
}

TEST(CellRecipeTest, MapsWhatLiesInTheToolsFolder) {
  ToolManifest tool;
  tool.folder = "/home/x/tools/kv";
  tool.command = {"/home/x/tools/kv/bin/kv.py", "--fast"};
  EXPECT_EQ(CommandInCell(tool), (std::vector<std::string>{"/tool/bin/kv.py", "--fast"}));
  tool.command = {"./kv.py"};
  EXPECT_EQ(CommandInCell(tool).front(), "/tool/kv.py");
  tool.command = {"/usr/bin/python3", "x"};
  EXPECT_EQ(CommandInCell(tool).front(), "/usr/bin/python3");
  tool.command = {"/home/x/tools/kv-other/x"};
  EXPECT_EQ(CommandInCell(tool).front(), "/home/x/tools/kv-other/x");
  EXPECT_EQ(FillIn("${BEIGE_TOOL_DATA}:${BEIGE_AGENT}:${OTHER}", "a1"), "/data:a1:${OTHER}");
}

}  // namespace
}  // namespace beige::testing
