#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "base/files.h"
#include "runtime/engine/discovery.h"
#include "runtime/engine/harden.h"
#include "runtime/engine/process_facts.h"
#include "runtime/engine/verify.h"
#include "tests/runtime/scripted_engine.h"

namespace beige::runtime::engine {

namespace {

constexpr char kMountInfo[] =
    "72 48 0:39 / / ro,relatime master:2 - overlay overlay rw,lowerdir=/l\n"
    "73 72 0:42 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw\n"
    "74 72 0:43 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k,mode=755\n"
    "76 72 0:45 / /sys ro,nosuid,nodev,noexec,relatime - sysfs sysfs ro\n"
    "77 76 0:46 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw,mode=755\n"
    "78 77 0:29 / /sys/fs/cgroup/cpu ro,nosuid,nodev,noexec,relatime - cgroup cgroup rw,cpu\n"
    "88 74 0:47 / /dev/shm rw,nosuid,nodev,noexec,relatime - tmpfs shm rw,size=8192k\n"
    "89 72 254:0 /srv/a\\0401 /workspace rw,relatime - ext4 /dev/vda rw\n"
    "90 72 0:48 / /tmp rw,nosuid,nodev,relatime - tmpfs tmpfs rw,size=16384k\n"
    "92 72 254:0 /engine/resolv.conf /etc/resolv.conf ro,relatime - ext4 /dev/vda rw\n"
    "52 73 0:42 /sys /proc/sys ro,nosuid,nodev,noexec,relatime - proc proc rw\n"
    "53 73 0:50 / /proc/acpi ro,relatime - tmpfs tmpfs ro\n"
    "54 73 0:43 /null /proc/keys rw,nosuid - tmpfs tmpfs rw,size=65536k\n";

CreateRequest Want() {
  CreateRequest want;
  want.user = "200000:200000";
  want.network_mode = "none";
  want.memory = want.memory_swap = 128 << 20;
  want.pids_limit = 64;
  want.nano_cpus = 500'000'000;
  want.shm_size = 8 << 20;
  want.mounts = {{"bind", "/srv/a 1", "/workspace", false, 0}};
  want.tmpfs = {{"/tmp", "rw,exec,nosuid,nodev,size=16777216,mode=1777"}};
  return want;
}

ProcessFacts Have() {
  ProcessFacts have;
  have.status = ParseStatus(
      "Name:\tbeige-sandbox\nUid:\t200000\t200000\t200000\t200000\nGid:\t200000\t200000\t200000\t200000\nGroups:\t200000 \n"
      "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n"
      "CapAmb:\t0000000000000000\nNSpid:\t4711\t1\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n");
  have.uid_map = have.gid_map = ParseIdMap("         0          0 4294967295\n");
  have.mounts = ParseMountInfo(kMountInfo);
  have.interfaces = {"lo"};
  have.core_limit = "0";
  have.files_limit = "20000";
  have.hidden_here = {"/proc/acpi", "/proc/keys", "/proc/sys"};
  return have;
}

std::string Fields(const std::vector<Mismatch>& list) {
  std::string out;
  for (const Mismatch& m : list) out += m.field + ": want " + m.want + ", have " + m.have + "\n";
  return out;
}

std::string Found(const ProcessFacts& have) { return Fields(CompareProcess(Want(), have)); }

}  // namespace

TEST(ProcessFactsTest, HardenedProcessHasNoMismatch) { EXPECT_EQ(Found(Have()), ""); }

TEST(ProcessFactsTest, EachWeaknessOfTheProcessIsNamed) {
  const std::vector<std::pair<std::string, std::function<void(ProcessFacts&)>>> cases{
      {"uid of the process", [](ProcessFacts& f) { f.status.uids[1] = 0; }},
      {"uid on the host", [](ProcessFacts& f) { f.status.uids = {0, 0, 0, 0}; }},
      {"uid of the process", [](ProcessFacts& f) { f.status.uids.clear(); }},
      {"gid of the process", [](ProcessFacts& f) { f.status.gids = {5, 5, 5, 5}; }},
      {"supplementary group", [](ProcessFacts& f) { f.status.groups.push_back(27); }},
      {"capabilities CapBnd", [](ProcessFacts& f) { f.status.capabilities["CapBnd"] = "00000000a80425fb"; }},
      {"capabilities CapAmb", [](ProcessFacts& f) { f.status.capabilities.erase("CapAmb"); }},
      {"no new privileges", [](ProcessFacts& f) { f.status.no_new_privileges = "0"; }},
      {"seccomp", [](ProcessFacts& f) { f.status.seccomp = "0"; }},
      {"core limit", [](ProcessFacts& f) { f.core_limit = "unlimited"; }},
      {"open files limit", [](ProcessFacts& f) { f.files_limit = "unlimited"; }},
      {"network interfaces", [](ProcessFacts& f) { f.interfaces.push_back("eth0"); }},
      {"memory in the control group", [](ProcessFacts& f) { f.cgroup.memory = -1; }},
      {"memory and swap in the control group", [](ProcessFacts& f) { f.cgroup.memory_swap = 256 << 20; }},
      {"pids limit in the control group", [](ProcessFacts& f) { f.cgroup.pids = -1; }},
      {"cpu in the control group", [](ProcessFacts& f) { f.cgroup.nano_cpus = -1; }},
      {"namespaces of the host", [](ProcessFacts& f) { f.shared_namespaces = {"net"}; }},
      {"process id inside", [](ProcessFacts& f) { f.status.pids = {4711}; }},
      {"device nodes", [](ProcessFacts& f) { f.devices = {"/dev/kvm"}; }},
      {"live path /proc/timer_list", [](ProcessFacts& f) { f.hidden_here = {"/proc/timer_list"}; }},
  };
  for (const auto& [field, weaken] : cases) {
    ProcessFacts have = Have();
    weaken(have);
    EXPECT_NE(Found(have).find(field), std::string::npos) << field << " not in:\n" << Found(have);
  }
}

TEST(ProcessFactsTest, RemappedUserNamespaceIsReadThroughItsMap) {
  ProcessFacts have = Have();
  have.uid_map = have.gid_map = ParseIdMap("0 1000000 65536\n65536 3000000 300000\n");
  const int64_t outside = 3'000'000 + (200'000 - 65'536);
  have.status.uids = have.status.gids = {outside, outside, outside, outside};
  have.status.groups = {outside};
  EXPECT_EQ(Found(have), "");
}

// Found by fuzzing: the sum of such numbers overflowed.
TEST(ProcessFactsTest, IdMapWithWhatIsNoIdIsNoMap) {
  EXPECT_EQ(InsideId(ParseIdMap("6 1 09223372036854775807\n"), 1000), -1);
  EXPECT_EQ(InsideId(ParseIdMap("9223372036854775807 0 4294967295\n"), 1000), -1);
  EXPECT_EQ(InsideId(ParseIdMap("0 -9223372036854775808 4294967295\n"), 1000), -1);
  EXPECT_EQ(InsideId(ParseIdMap("0 0 4294967295\n"), 1000), 1000);
}

TEST(ProcessFactsTest, MountsThatAreMissingWritableForeignOrTooLargeAreNamed) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kMountInfo;
    if (from.empty()) {
      text += to;
    } else {
      text.replace(text.find(from), from.size(), to);
    }
    ProcessFacts have = Have();
    have.mounts = ParseMountInfo(text);
    return Fields(CompareProcess(Want(), have));
  };
  EXPECT_TRUE(with("/ / ro,relatime", "/ / rw,relatime").starts_with("mount /: want read-only")) << with("/ / ro,relatime", "/ / rw,relatime");
  EXPECT_TRUE(with("/workspace rw", "/workspace ro").starts_with("live mount /workspace"));
  EXPECT_TRUE(with("/workspace rw", "/elsewhere rw").starts_with("live mount /workspace"));
  EXPECT_NE(with("/workspace rw", "/elsewhere rw").find("mount /elsewhere: want none"), std::string::npos);
  EXPECT_TRUE(with("", "99 72 254:0 /run/docker.sock /run/docker.sock rw - ext4 /dev/vda rw\n").starts_with("mount /run/docker.sock: want none"));
  EXPECT_TRUE(with("", "99 73 254:0 /etc /proc/x rw - ext4 /dev/vda rw\n").starts_with("mount /proc/x: want none"));
  EXPECT_TRUE(with("/etc/resolv.conf ro", "/etc/resolv.conf rw").starts_with("mount /etc/resolv.conf"));
  EXPECT_TRUE(with("/proc/sys ro", "/proc/sys rw").starts_with("live path /proc/sys"));
  EXPECT_TRUE(with("/sys ro,nosuid", "/sys rw,nosuid").starts_with("mount /sys"));
  EXPECT_TRUE(with("size=8192k", "size=65536k").starts_with("size of /dev/shm"));
  EXPECT_TRUE(with("/workspace rw,relatime -", "/workspace rw,relatime shared:9 -").starts_with("propagation of live mount /workspace"));
  EXPECT_TRUE(with("53 73 0:50 / /proc/acpi", "53 73 0:50 / /proc/elsewhere").starts_with("live path /proc/acpi"));
  EXPECT_TRUE(with("size=16384k", "size=99999k").starts_with("size of /tmp"));
  EXPECT_TRUE(with("/tmp rw,nosuid,nodev", "/tmp rw,nosuid,nodev,noexec").starts_with("mount /tmp: want writable, programs can run"));
  EXPECT_TRUE(with("/tmp rw,nosuid", "/tmp rw").starts_with("mount /tmp: want nosuid"));
}

TEST(ProcessFactsTest, MountInfoKeepsSpacesOfNames) {
  const auto mounts = ParseMountInfo(kMountInfo);
  ASSERT_EQ(mounts.size(), 13u);
  EXPECT_EQ(mounts[7].root, "/srv/a 1");
  EXPECT_EQ(mounts[7].point, "/workspace");
  EXPECT_EQ(mounts[7].id, 89u);
  EXPECT_EQ(ParseMountInfo("garbage\n1 2 3\n").size(), 0u);
}

TEST(ProcessFactsTest, InterfacesLeaveOutTheKernelsIdleTunnels) {
  EXPECT_EQ(ParseInterfaces("Inter-|   Receive\n face |bytes\n    lo:  0 0\n tunl0: 0 0\n  sit0: 0\n  eth0: 1 2\n"), (std::vector<std::string>{"lo", "eth0"}));
}

TEST(ProcessFactsTest, HardLimitIsTheSecondNumber) {
  const std::string limits = "Limit                     Soft Limit           Hard Limit           Units     \nMax core file size        0                    unlimited            bytes     \n";
  EXPECT_EQ(ParseHardLimit(limits, "Max core file size"), "unlimited");
  EXPECT_EQ(ParseHardLimit(limits, "Max open files"), "");
}

TEST(ProcessFactsTest, ProcessOfAnotherContainerIsNotTaken) {
  const auto facts = ReadProcess(getpid(), std::string(64, 'f'), {});
  ASSERT_TRUE(facts.has_value());
  EXPECT_FALSE(facts->has_value()) << "this test runs in no container of that id";
}

TEST(FindEngineSocketTest, TakesTheConfiguredOneThenDockerHostThenWhatExists) {
  TempDir dir;
  ScriptedEngine engine([](const SeenRequest&) { return std::string(); });
  EngineHints hints;
  hints.system_socket = dir / "none.sock";
  EXPECT_EQ(FindEngineSocket(hints).error().code, Code::kUnavailable);
  ASSERT_EQ(symlink(engine.socket().c_str(), (dir / "docker.sock").c_str()), 0);
  hints.runtime_dir = dir.path();
  EXPECT_EQ(*FindEngineSocket(hints), dir / "docker.sock");
  hints.system_socket = engine.socket();
  EXPECT_EQ(*FindEngineSocket(hints), engine.socket());
  hints.docker_host = "unix:///from/host.sock";
  EXPECT_EQ(*FindEngineSocket(hints), "/from/host.sock");
  hints.configured = "/configured.sock";
  EXPECT_EQ(*FindEngineSocket(hints), "/configured.sock");
}

TEST(FindEngineSocketTest, RefusesWhatIsNoUnixSocketPathAndNamesTheSetting) {
  EngineHints hints;
  hints.docker_host = "tcp://127.0.0.1:2375";
  const auto found = FindEngineSocket(hints);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, Code::kInvalid);
  EXPECT_EQ(found.error().message, "DOCKER_HOST: want the path of a Unix socket or unix:///path, got \"tcp://127.0.0.1:2375\"");
  hints.configured = "/" + std::string(120, 'x');
  EXPECT_TRUE(FindEngineSocket(hints).error().message.starts_with("engine.socket")) << FindEngineSocket(hints).error().message;
}

}  // namespace beige::runtime::engine
