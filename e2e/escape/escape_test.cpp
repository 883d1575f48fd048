// A rogue agent. Each test is named after the promise that it attacks, from inside a live sandbox.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/unix_socket.h"
#include "e2e/escape/rogue.h"

namespace beige::e2e {
namespace {
using nlohmann::json;

// How often the sandbox was started again: its container stays the same.
json Restarts(const Home& home) { return home.GetAgent("rogue")["status"]["sandbox"]["restarts"]; }

TEST_F(EscapeTest, Pid1CantBeTraced) { EXPECT_EQ(Attack({"ptrace"}).status, 1) << Attack({"ptrace"}).out; }
TEST_F(EscapeTest, Pid1sMemoryAndDescriptorsCantBeOpened) { EXPECT_EQ(Attack({"memory"}).status, 1) << Attack({"memory"}).out; }
TEST_F(EscapeTest, Pid1sLimitsAndSchedulingCantBeChangedInAnyAbi) { EXPECT_EQ(Attack({"scheduling"}).status, 1) << Attack({"scheduling"}).out; }
TEST_F(EscapeTest, Pid1CantBeReachedByPidFd) { EXPECT_EQ(Attack({"pidfd"}).status, 1); }
TEST_F(EscapeTest, NoNamespaceCapabilityOrUidCanBeGained) { EXPECT_EQ(Attack({"namespaces"}).status, 1) << Attack({"namespaces"}).out; }

TEST_F(EscapeTest, SignalsToPid1LeaveItRunning) {
  const std::string container = home->ContainerId("rogue");
  const json restarts = Restarts(*home);
  for (int i = 0; i < 5; ++i) Attack({"signals"});
  home->Sh("rogue", "for s in TERM STOP KILL INT HUP CHLD; do kill -$s 1; done");
  ExpectAlive(container);
  EXPECT_EQ(Restarts(*home), restarts);
}

// Whether the audit tells, from record `from` on, of refused claimants with this reason: then they got as far as that.
bool WasTold(const std::vector<json>& records, size_t from, const std::string& why) {
  return std::any_of(records.begin() + static_cast<std::ptrdiff_t>(from), records.end(), [&](const json& r) { return r.value("message", "").find(why) != std::string::npos; });
}

TEST_F(EscapeTest, AStrangerCantClaimTheControlChannel) {
  const size_t told = home->Audit().size();
  const std::string container = home->ContainerId("rogue");
  EXPECT_EQ(Attack({"claim"}).status, 1) << Attack({"claim"}).out;
  ExpectAlive(container);
  // Nor in the race after a gateway restart: the claims go on from before the kill until after PID 1 is back, round after round.
  home->Sh("rogue", "(while [ ! -e /tmp/enough ]; do /workspace/attacker claim; done > /tmp/claims 2>&1) > /dev/null 2>&1 &");
  for (int i = 0; i < 3; ++i) {
    const std::string lines = home->Sh("rogue", "wc -l < /tmp/claims").out;
    KillGateway();
    ExpectAlive(container);
    EXPECT_TRUE(Eventually([&] { return std::stoi("0" + home->Sh("rogue", "wc -l < /tmp/claims").out) > std::stoi("0" + lines); })) << "nobody claimed";
  }
  home->Sh("rogue", "touch /tmp/enough");
  const std::string claims = home->Sh("rogue", "cat /tmp/claims").out;
  EXPECT_NE(claims.find("second claimant: refused"), std::string::npos) << claims;
  EXPECT_TRUE(WasTold(home->Audit(), told, "is not process 1 of a sandbox"));
  EXPECT_EQ(claims.find("registered"), std::string::npos) << claims;
  ExpectAlive(container);
}

// No process of an agent's outlives its container, so who claims while that is started again stands outside, where it could not.
class Claimant {
 public:
  Claimant(std::vector<std::string> program, std::string socket) : program_(std::move(program)) {
    for (const char* argument : {BEIGE_ATTACKER, "claim"}) program_.emplace_back(argument);
    program_.push_back(std::move(socket));
    thread_ = std::thread([this] {
      while (!enough_) {
        said_ += RunProgram(program_).out;
        ++times_;
      }
    });
  }
  ~Claimant() { (void)Said(); }
  int times() const { return times_; }
  const std::string& Said() {
    enough_ = true;
    if (thread_.joinable()) thread_.join();
    return said_;
  }

 private:
  std::vector<std::string> program_;
  std::atomic<bool> enough_{false};
  std::atomic<int> times_{0};
  std::string said_;
  std::thread thread_;
};

TEST_F(EscapeTest, AStrangerCantClaimTheControlChannelWhileItsWindowIsOpen) {
  const size_t told = home->Audit().size();
  const std::string container = home->ContainerId("rogue");
  const std::string control = home->Socket("rogue").substr(0, home->Socket("rogue").rfind('/')) + "/control.sock";
  const int before = Restarts(*home);
  Claimant claimant({}, control);
  for (int i = 1; i <= 3; ++i) {
    const int times = claimant.times();
    Engine("POST", "/containers/" + container + "/kill");
    ASSERT_TRUE(Eventually([&] { return Restarts(*home) == before + i; }, seconds(60)));
    home->WaitReady("rogue");
    ExpectAlive(container);
    EXPECT_TRUE(Eventually([&] { return claimant.times() > times; })) << "nobody claimed";
  }
  EXPECT_NE(claimant.Said().find("second claimant: refused"), std::string::npos) << claimant.Said();
  EXPECT_EQ(claimant.Said().find("registered"), std::string::npos) << claimant.Said();
  EXPECT_TRUE(WasTold(home->Audit(), told, "is not process 1 of a sandbox"));
}

TEST_F(EscapeTest, AStrangerThatLooksLikePid1HasNotItsKey) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: process 1 of a pid namespace";
  const size_t told = home->Audit().size();
  const std::string container = home->ContainerId("rogue");
  const std::string control = home->Socket("rogue").substr(0, home->Socket("rogue").rfind('/')) + "/control.sock";
  Claimant claimant({"unshare", "--pid", "--fork", "--kill-child"}, control);
  for (int i = 0; i < 3; ++i) {
    const int times = claimant.times();
    KillGateway();
    ExpectAlive(container);
    EXPECT_TRUE(Eventually([&] { return claimant.times() > times; })) << "nobody claimed";
  }
  EXPECT_NE(claimant.Said().find("second claimant: refused"), std::string::npos) << claimant.Said();
  EXPECT_EQ(claimant.Said().find("registered"), std::string::npos) << claimant.Said();
  EXPECT_TRUE(WasTold(home->Audit(), told, "belongs to another process"));
  ExpectAlive(container);
}

TEST_F(EscapeTest, ArgumentsThatAreHugeOrNoTextAreRecordedAsTheyAre) {
  const size_t before = home->Audit().size();
  home->Sh("rogue", "hello \"$(printf 'a\\377\\376b')\"");
  home->Sh("rogue", "hello \"$(head -c 100000 /dev/zero | tr '\\0' A)\"");
  std::vector<json> args;
  const auto records = home->Audit();  // parses every line
  for (size_t i = before; i < records.size(); ++i) {
    if (records[i]["event"] == "begin" && records[i]["kind"] == "tool") args.push_back(records[i]["args"]);
  }
  ASSERT_EQ(args.size(), 2u);
  EXPECT_EQ(args[0], json({"a\uFFFD\uFFFDb"}));
  EXPECT_EQ(args[1].value("cut", false), true) << args[1].dump().substr(0, 200);
  EXPECT_EQ(args[1].value("bytes", 0), 100001);
}

TEST_F(EscapeTest, AForkBombEndsAndTheNeighbourNeverNotices) {
  const std::string container = home->ContainerId("rogue");
  const Outcome bomb = home->Beige({"exec", "--timeout", "4s", "rogue", "--", "/workspace/attacker", "forkbomb", "3600"});
  // The kernel may end the job's helper for want of memory; the bomb ends all the same.
  EXPECT_TRUE(bomb.status == 124 || bomb.status == 125) << bomb.status << bomb.err;
  ExpectNeighbourWorks();
  ExpectAlive(container);
  EXPECT_TRUE(Eventually([] { return home->Sh("rogue", "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c forkbom[b]").out == "0\n"; }, seconds(20)));
}

TEST_F(EscapeTest, MemoryThatIsEatenKillsTheEaterAndNotABystander) {
  const std::string container = home->ContainerId("rogue");
  const json restarts = Restarts(*home);
  const Outcome r = home->Sh("rogue", "sleep 600 & /workspace/attacker eat-memory; echo eater $?; kill -0 $! && echo bystander lives; kill $!");
  EXPECT_NE(r.out.find("eater 137"), std::string::npos) << r.out << r.err;
  EXPECT_NE(r.out.find("bystander lives"), std::string::npos) << r.out << r.err;
  ExpectNeighbourWorks();
  ExpectAlive(container);
  EXPECT_EQ(Restarts(*home), restarts);
}

TEST_F(EscapeTest, ATmpfsThatIsFullStopsNothingElse) {
  const std::string container = home->ContainerId("rogue");
  const json restarts = Restarts(*home);
  for (const char* place : {"/tmp", "/dev/shm"}) {
    const std::string fill = std::string(place) + "/fill";
    const Outcome r = home->Sh("rogue", "sleep 600 & head -c 2000000000 /dev/zero > " + fill + "; echo full $?; kill -0 $! && echo bystander lives; kill $!");
    EXPECT_NE(r.out.find("full "), std::string::npos) << place << ": " << r.out << r.err;
    EXPECT_EQ(r.out.find("full 0"), std::string::npos) << place << ": " << r.out << r.err;
    EXPECT_NE(r.out.find("bystander lives"), std::string::npos) << place << ": " << r.out << r.err;
    EXPECT_EQ(home->Exec("rogue", {"hello", "x"}).out, "hello x\n") << "with " << place << " full";
    ExpectNeighbourWorks();
    EXPECT_NE(home->Sh("rogue", "stat -c %s " + fill + "; rm -f " + fill).out, "0\n") << "nothing was filled";
    ExpectAlive(container);
  }
}

TEST_F(EscapeTest, AFloodOfConnectionsCostsOnlyTheFlooder) {
  Attack({"flood", "/beige/gateway.sock", "200", "1"});
  const Outcome started = home->Sh("rogue", "/workspace/attacker flood /beige/gateway.sock 500 5 > /tmp/flood & sleep 1; cat /tmp/flood");
  ExpectNeighbourWorks();
  EXPECT_EQ(home->ConditionStatus("rogue", "Ready"), "True") << "the probe's own connection is kept free";
  EXPECT_TRUE(Eventually([] { return home->Exec("rogue", {"hello", "x"}).out == "hello x\n"; }, seconds(20)));
}

TEST_F(EscapeTest, AnEndlessLineIsCutAndTheGatewayDoesNotGrow) {
  const auto rss = [] {
    const auto info = home->Info("data/gateway/gateway.json");
    return std::stol("0" + RunProgram({"sh", "-c", "awk '/VmRSS/{print $2}' /proc/" + std::to_string(info.value("pid", 0)) + "/status"}).out);
  };
  const long before = rss();
  ASSERT_GT(before, 0);
  EXPECT_EQ(Attack({"endless", "/beige/gateway.sock"}).status, 1) << "64 MiB of one line were taken";
  EXPECT_LT(rss(), before + 16 * 1024);
  ExpectNeighbourWorks();
}

TEST_F(EscapeTest, InotifyInstancesUsedUpLeaveTheOperatorWatching) {
  const Outcome r = home->Sh("rogue", "/workspace/attacker eat-inotify > /tmp/instances & sleep 0.5; cat /tmp/instances; echo $! > /tmp/eater");
  EXPECT_NE(r.out.find("inotify instances: "), std::string::npos) << r.out;
  home->AddAgent("later", "tools: []");
  home->WaitReady("later");
  EXPECT_EQ(home->Beige({"delete", "agent", "later"}).status, 0);
  EXPECT_EQ(home->Sh("rogue", "kill $(cat /tmp/eater)").status, 0) << "it held them all the while";
}

TEST_F(EscapeTest, ATouchedToolCantReachTheGateway) {
  const std::string pid = std::to_string(GatewayPid());
  for (const std::string& script : {
           "kill -0 " + pid,
           "cat /proc/" + pid + "/environ",
           "ls " + home->path() + "/run",
           "cat " + home->path() + "/api-token",
           std::string("ls /proc/[0-9]*/root/etc/shadow"),
           std::string("cat /etc/shadow"),
           "ls " + EngineSocket(),
       }) {
    EXPECT_NE(home->Exec("rogue", {"probe", script}).status, 0) << script;
  }
  // Its pid namespace is its own: PID 1 there is the runner.
  EXPECT_EQ(home->Exec("rogue", {"probe", "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'beige-gatewa[y]'"}).out, "0\n");
}

// In the gateway's namespaces, as its user (root there) and with no more capabilities than it has, try what it could try.
Outcome AsGateway(pid_t gateway, const std::string& script) {
  return RunProgram({"nsenter", "-t", std::to_string(gateway), "-U", "-m", "setpriv", "--bounding-set=-all", "--inh-caps=-all", "sh", "-c", script});
}

TEST_F(EscapeTest, TheGatewaysOwnProcessCantReachTheEngineOrTheOperatorsFilesOrADisk) {
  const pid_t gateway = GatewayPid();
  ASSERT_GT(gateway, 0);
  const auto as_gateway = [&](const std::string& script) { return AsGateway(gateway, script); };
  EXPECT_EQ(as_gateway("grep CapEff /proc/self/status | tr -dc 1-9").out, "");
  EXPECT_EQ(as_gateway("touch " + home->path() + "/logs/mine && rm " + home->path() + "/logs/mine").status, 0) << "what it may, it can";
  EXPECT_NE(as_gateway("curl -sS --unix-socket " + EngineSocket() + " http://x/_ping").status, 0);
  for (const char* path : {"operator.yaml", "gateway.yaml", "agents.d/rogue.yaml", "data/operator/x", "bin/x", "agents.d/x.yaml", "tools/probe/run.sh"}) {
    EXPECT_NE(as_gateway("echo x >> " + home->path() + "/" + path).status, 0) << path;
  }
  for (const char* path : {"/etc/x", "/tmp/x", "/var/tmp/x", "/dev/x", "/dev/shm/x", "/root/x"}) EXPECT_NE(as_gateway(std::string("touch ") + path).status, 0) << path;
  EXPECT_NE(as_gateway("chmod 0666 /dev/null").status, 0) << "the node is everybody's";
  EXPECT_EQ(as_gateway("find /dev -type b").out, "") << "whoever writes a disk writes everything";
  // A rename over operator.yaml keeps the view closed.
  home->WriteFile("operator.yaml", home->ReadText("operator.yaml") + "\n");
  EXPECT_NE(as_gateway("echo x >> " + home->path() + "/operator.yaml").status, 0);
}

TEST_F(EscapeTest, TheGatewaysOwnProcessIsNotRootOfTheHost) {
  if (const std::string why = home->Info("run/up.json").value("privilegeReason", ""); !why.empty()) GTEST_SKIP() << "beige up and doctor say so: " << why;
  const pid_t gateway = GatewayPid();
  ASSERT_GT(gateway, 0);
  const auto engine = ConnectUnix(EngineSocket());
  ASSERT_TRUE(engine);
  const pid_t operator_pid = home->Pid("operator");
  ASSERT_EQ(AsGateway(gateway, "exec 3>>" + home->path() + "/logs/mine && rm " + home->path() + "/logs/mine && kill -0 " + std::to_string(gateway)).status, 0)
      << "the attacks themselves work";
  // Opened for writing, never written.
  for (const char* file : {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger"}) {
    EXPECT_NE(AsGateway(gateway, std::string("exec 3>>") + file).status, 0) << file;
  }
  const std::string fresh = "unshare -U -r -p -f -m --mount-proc sh -c 'exec 3>>/proc/sys/kernel/core_pattern'";
  EXPECT_NE(AsGateway(gateway, fresh).status, 0) << "through namespaces of its own";
  for (const pid_t pid : {pid_t{1}, PeerOf(engine->get())->pid, operator_pid, home->Pid("supervisor")}) {
    const std::string name = std::to_string(pid);
    ASSERT_GT(pid, 0);
    EXPECT_NE(AsGateway(gateway, "kill -0 " + name).status, 0) << pid;
    for (const char* attack : {"ls /proc/$1/root/", "head -c 1 /proc/$1/environ", "exec 3</proc/$1/mem", "readlink /proc/$1/fd/0",
                               "python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(16, int(sys.argv[1]), 0, 0) != 0)' $1"}) {
      EXPECT_NE(AsGateway(gateway, "set -- " + name + "; " + attack).status, 0) << attack << " of " << pid;
    }
  }
  // Who took the lock away could have a second `beige up` on this home.
  for (const char* attack : {"echo x >> up.lock", "rm -f up.lock", "mv up.lock away", "mv up.json up.lock"}) {
    EXPECT_NE(AsGateway(gateway, "cd " + home->path() + "/run && " + attack).status, 0) << attack;
  }
  EXPECT_NE(AsGateway(gateway, "cat /etc/shadow").status, 0);
}

TEST_F(EscapeTest, ALinkThatTheGatewayPutsInPlaceOfAMountEndsTheSandboxThatCameByIt) {
  const pid_t gateway = GatewayPid();
  ASSERT_GT(gateway, 0);
  // With it come the sockets of another agent.
  const std::string neighbours = home->Socket("neighbour").substr(0, home->Socket("neighbour").rfind('/'));
  for (const char* what : {"skills", "run"}) {
    SCOPED_TRACE(what);
    const std::string name = std::string("by-link-") + what;
    home->AddAgent(name, "tools: []");
    home->WaitReady(name);
    const std::string socket = home->Socket(name);
    const std::string run = socket.substr(0, socket.rfind('/'));
    const std::string place = std::string(what) == "run" ? run : home->path() + "/data/gateway/trees/" + run.substr(run.rfind('/') + 1) + "/skills";
    const std::string container = home->ContainerId(name);
    const Outcome put = AsGateway(gateway, "mv " + place + " " + place + ".away && ln -s " + neighbours + " " + place);
    ASSERT_EQ(put.status, 0) << put.err;
    Engine("POST", "/containers/" + container + "/kill");
    ASSERT_TRUE(Eventually([&] { return home->ConditionReason(name, "IsolationVerified") == "IsolationMismatch"; })) << home->GetAgent(name)["status"].dump(2);
    EXPECT_TRUE(Eventually([&] { return !Engine("GET", "/containers/" + home->ContainerId(name) + "/json")["State"]["Running"].get<bool>(); }));
    EXPECT_NE(home->GetAgent(name)["status"].dump().find("a link on the way to"), std::string::npos) << home->GetAgent(name)["status"].dump(2);
    EXPECT_EQ(AsGateway(gateway, "rm " + place + " && mv " + place + ".away " + place).status, 0);
    EXPECT_EQ(home->Beige({"delete", "agent", name}).status, 0);
  }
}

}  // namespace
}  // namespace beige::e2e
