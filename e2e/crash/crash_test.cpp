// kill -9 at random moments, while calls and edits go on: afterwards everything is as the files say, without help. 20 times, 200 with
// BEIGE_TEST_LONG; the seed is printed, and BEIGE_TEST_SEED repeats one.
#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "base/files.h"
#include "e2e/crash/load.h"

namespace beige::e2e {
namespace {
using nlohmann::json;

const std::vector<std::string> kAgents = {"a1", "a2", "a3"};

std::string Cmdline(const std::string& pid) {
  std::string text = beige::ReadFile("/proc/" + pid + "/cmdline").value_or("");
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string command;
};

// Of this machine, whose command line holds `text`.
std::vector<Process> Processes(const std::string& text) {
  std::vector<Process> found;
  const auto names = ListDir("/proc");
  if (!names) return found;
  for (const auto& name : *names) {
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string command = Cmdline(name);
    if (command.find(text) == std::string::npos) continue;
    const std::string stat = beige::ReadFile("/proc/" + name + "/stat").value_or("");
    const size_t end = stat.rfind(')');
    if (end == std::string::npos || end + 4 >= stat.size()) continue;
    found.push_back({std::atoi(name.c_str()), std::atoi(stat.c_str() + end + 4), command});
  }
  return found;
}

class CrashTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    home = std::make_unique<Home>();
    home->Configure("tools:\n  hello: {path: ./tools/hello}\n  nap: {path: ./tools/nap}\n  extra: {path: ./tools/extra}\n");
    home->AddShellTool("hello", "echo hello");
    home->AddShellTool("nap", "sleep 0.2");
    home->AddShellTool("extra", "echo extra");
    for (const auto& agent : kAgents) Give(agent, 0, false);
    home->Up();
    for (const auto& agent : kAgents) home->WaitReady(agent);
    label = "beige.dev/home=" + Inspect("a1")["Config"]["Labels"]["beige.dev/home"].get<std::string>();
  }
  static void TearDownTestSuite() { home.reset(); }

  static void Give(const std::string& agent, int n, bool extra) {
    home->WriteFile("agents.d/" + agent + ".yaml", "apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {name: " + agent + "}\nspec:\n  description: Version " +
                                                       std::to_string(n) + "\n  tools: [{name: hello}, {name: nap}" + (extra ? ", {name: extra}" : "") + "]\n");
  }
  // Edits a3: each writing differs, every other one grants one tool more.
  static void Write(int n) {
    written = n;
    Give("a3", n, n % 2 == 1);
  }
  static json Inspect(const std::string& agent) { return Engine("GET", "/containers/" + home->ContainerId(agent) + "/json"); }
  static json Containers() {
    return Engine("GET", "/containers/json?all=1&filters=" + std::string("%7B%22label%22%3A%5B%22") + label + "%22%5D%7D");
  }
  static std::map<std::string, std::string> Started() {
    std::map<std::string, std::string> started;
    for (const auto& agent : kAgents) started[agent] = Inspect(agent)["State"].value("StartedAt", "");
    return started;
  }
  static pid_t Gateway() { return home->Info("data/gateway/gateway.json").value("pid", 0); }

  // Kills one of `what`; answers whose sandbox went with it.
  static std::set<std::string> Kill(const std::string& what, const std::string& agent, std::mt19937& random);
  static void ExpectWhole(const std::string& round);
  static void ExpectAuditComplete(const std::string& round);

  static std::unique_ptr<Home> home;
  static std::string label;
  static int written;
};
std::unique_ptr<Home> CrashTest::home;
std::string CrashTest::label;
int CrashTest::written = 0;

void KillNow(pid_t pid) {
  if (pid > 1) ::kill(pid, SIGKILL);
}

std::set<std::string> CrashTest::Kill(const std::string& what, const std::string& agent, std::mt19937& random) {
  if (what == "gateway" || what == "both") KillNow(random() % 2 == 0 ? Gateway() : home->Pid("gateway"));
  if (what == "operator" || what == "both") KillNow(home->Pid("operator"));
  if (what == "up") {
    const pid_t up = home->Pid("supervisor");
    KillNow(up);
    EXPECT_TRUE(Eventually([&] { return ::kill(up, 0) != 0; }));
    // Whoever restarts it, as systemd would, needs no patience: what it started ends with it.
    home->Up();
  }
  if (what == "cell") {
    // The bubblewrap that made a cell, or the runner beneath it.
    const auto makers = Processes(home->path() + "/tools/");
    EXPECT_FALSE(makers.empty()) << "there is no cell to kill";
    if (makers.empty()) return {};
    const pid_t maker = makers[random() % makers.size()].pid;
    const auto runners = Processes("beige-sandbox runner");
    const auto runner = std::find_if(runners.begin(), runners.end(), [&](const Process& p) { return p.parent == maker; });
    KillNow(random() % 2 == 0 && runner != runners.end() ? runner->pid : maker);
  }
  if (what == "pid1") {
    KillNow(Inspect(agent)["State"].value("Pid", 0));
    return {agent};
  }
  return {};
}

void CrashTest::ExpectAuditComplete(const std::string& round) {
  std::set<std::string> open;
  const auto complete = [&] {
    open.clear();
    std::istringstream lines(home->ReadText("logs/audit.jsonl"));
    uint64_t last = 0;
    for (std::string line; std::getline(lines, line);) {
      const json record = json::parse(line, nullptr, false);
      if (!record.is_object()) continue;  // what a crash tore; the next record tells of it
      const auto seq = record.value("seq", uint64_t{0});
      if (seq != last + 1) ADD_FAILURE() << round << ": record " << seq << " follows " << last;
      last = seq;
      if (record["event"] == "begin" && record["decision"] == "allow") open.insert(record["id"]);
      if (record["event"] == "end") open.erase(record["id"]);
    }
    return open.empty();
  };
  EXPECT_TRUE(Eventually(complete, seconds(20))) << round << ": a begin without an end: " << *open.begin();
}

void CrashTest::ExpectWhole(const std::string& round) {
  for (const auto& agent : kAgents) {
    ASSERT_TRUE(Eventually([&] { return home->Exec(agent, {"hello"}).out == "hello\n" && home->ConditionStatus(agent, "Ready") == "True"; }, seconds(60)))
        << round << ": " << agent << " is not back\n" << home->Beige({"describe", "agent", agent}).out;
  }
  // The grant that was written last, and none of before.
  const bool extra = written % 2 == 1;
  EXPECT_TRUE(Eventually([&] { return (home->Exec("a3", {"extra"}).status == 0) == extra; }, seconds(20))) << round << ": what was written last is not in force";
  EXPECT_NE(home->Exec("a1", {"extra"}).status, 0) << round << ": a grant that nobody gave";
  const json containers = Containers();
  EXPECT_EQ(containers.size(), kAgents.size()) << round << ": " << containers.dump();
  std::set<std::string> uids;
  for (const auto& container : containers) uids.insert(container["Labels"].value("beige.dev/uid", ""));
  EXPECT_EQ(uids.size(), kAgents.size()) << round << ": two containers of one agent";
  // No cell or view is left without the gateway that made it.
  const auto strays = [] {
    std::string text;
    for (const auto& process : Processes(home->path())) {
      if (process.parent == 1 && process.command.find("bwrap") == 0) text += std::to_string(process.pid) + " " + process.command.substr(0, 200) + "\n";
    }
    return text;
  };
  EXPECT_TRUE(Eventually([&] { return strays().empty(); }, seconds(5))) << round << ": left behind:\n" << strays();
  ExpectAuditComplete(round);
}

TEST_F(CrashTest, EverythingIsKilledAtRandomMomentsAndConvergesWithoutHelp) {
  const char* given = std::getenv("BEIGE_TEST_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device{}();
  const int rounds = std::getenv("BEIGE_TEST_LONG") != nullptr ? 200 : 20;
  std::printf("BEIGE_TEST_SEED=%u, %d rounds\n", seed, rounds);
  std::mt19937 random(seed);
  std::vector<std::string> sockets;
  for (const auto& agent : kAgents) sockets.push_back(home->Socket(agent));
  // Each kind comes as often as any; what varies is the order, the moment and the victim.
  static const char* const kKinds[] = {"operator", "gateway", "both", "cell", "pid1", "up"};
  std::vector<std::string> plan;
  for (int i = 0; i < rounds; ++i) plan.emplace_back(kKinds[static_cast<size_t>(i) % std::size(kKinds)]);
  std::shuffle(plan.begin(), plan.end(), random);
  int edits = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::string& agent = kAgents[static_cast<size_t>(i) % kAgents.size()];
    const std::string round = "seed " + std::to_string(seed) + ", round " + std::to_string(i) + ", " + plan[static_cast<size_t>(i)] + " of " + agent;
    const auto before = Started();
    const auto start = std::chrono::steady_clock::now();
    std::set<std::string> hit;
    {
      const Load load(sockets, [&](int) { Write(++edits); });
      ASSERT_TRUE(Eventually([&] { return load.answered() > 0; })) << round << ": no call was answered, so nothing runs that a kill could hurt";
      std::this_thread::sleep_for(milliseconds(random() % 400));
      hit = Kill(plan[static_cast<size_t>(i)], agent, random);
      std::this_thread::sleep_for(milliseconds(random() % 300));
    }
    ExpectWhole(round);
    for (const auto& [name, at] : Started()) {
      EXPECT_EQ(at != before.at(name), hit.contains(name)) << round << ": the sandbox of " << name << (hit.contains(name) ? " was not started again" : " was touched");
    }
    const auto took = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
    std::printf("%s: whole again, %lld ms\n", round.c_str(), static_cast<long long>(took.count()));
    if (HasFailure()) return;
  }
}

TEST(TwoUpsTest, OfTwoUpsAtOnceOneIsRefusedByTheNameOfTheOther) {
  Home home;
  home.Configure();
  Outcome first;
  Outcome second;
  std::thread other([&] { first = home.Beige({"up", "--detach"}); });
  second = home.Beige({"up", "--detach"});
  other.join();
  EXPECT_EQ((first.status == 0) + (second.status == 0), 1) << first.err << second.err;
  const Outcome& refused = first.status == 0 ? second : first;
  EXPECT_NE(refused.err.find(std::to_string(home.Pid("supervisor"))), std::string::npos) << refused.err;
  EXPECT_EQ(home.Beige({"status"}).status, 0);
  EXPECT_EQ(Processes("beige-operator --home " + home.path()).size(), 1u);
}

}  // namespace
}  // namespace beige::e2e
