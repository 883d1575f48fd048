#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/runtime/docker_test.h"

namespace beige::runtime {

namespace {

bool Holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string Fields(const std::vector<Mismatch>& list) {
  std::string out;
  for (const Mismatch& m : list) out += m.field + ": want " + m.want + ", have " + m.have + "\n";
  return out;
}

}  // namespace

TEST_P(DockerTest, InsideThereIsNoPrivilegeAndEveryLimitHolds) {
  const std::string id = Start(Script(R"sh(
    F=/workspace/facts.part
    { id; cat /proc/self/status; ulimit -c; ulimit -n; pwd; hostname
      echo "memory=$(cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null)"
      echo "pids=$(cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null)"
      echo "links=$(ls /sys/class/net | tr '\n' ' ')"
      touch /root-write 2>&1; touch /etc/x 2>&1
      for device in /dev/*; do [ ! -b $device ] || echo "block device $device"; done
      echo "one: $(tr '\0' ' ' </proc/1/cmdline | cut -c1-12)"
    } >$F 2>&1)sh"));
  const std::string facts = Facts(id);
  const std::string uid = std::to_string(Uid());
  EXPECT_TRUE(Holds(facts, "uid=" + uid + " gid=" + uid + " groups=" + uid + "\n")) << facts;
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    EXPECT_TRUE(Holds(facts, std::string(set) + ":\t0000000000000000")) << set << "\n" << facts;
  }
  EXPECT_TRUE(Holds(facts, "NoNewPrivs:\t1"));
  EXPECT_TRUE(Holds(facts, "Seccomp:\t2"));
  EXPECT_TRUE(Holds(facts, "\n0\n")) << "core limit\n" << facts;
  EXPECT_TRUE(Holds(facts, "memory=134217728\n")) << facts;
  EXPECT_TRUE(Holds(facts, "pids=64\n")) << facts;
  EXPECT_TRUE(Holds(facts, "links=lo")) << facts;
  EXPECT_FALSE(Holds(facts, "eth0")) << facts;
  EXPECT_TRUE(Holds(facts, "/root-write: Read-only file system")) << facts;
  EXPECT_TRUE(Holds(facts, "/etc/x: ")) << facts;
  EXPECT_FALSE(Holds(facts, "block device")) << facts;
  EXPECT_TRUE(Holds(facts, "one: /bin/sh -c")) << "no init of the engine's\n" << facts;
}

TEST_P(DockerTest, TmpIsWritableExecutableAndBounded) {
  SandboxSpec spec = Script(R"sh(
    F=/workspace/facts.part
    { printf '#!/bin/sh\necho it-ran\n' >/tmp/program; chmod +x /tmp/program; /tmp/program
      stat -c 'mode=%a' /tmp
      dd if=/dev/zero of=/tmp/big bs=1M count=32
      echo "bytes=$(stat -c %s /tmp/big)"
    } >$F 2>&1)sh");
  const std::string facts = Facts(Start(spec));
  EXPECT_TRUE(Holds(facts, "it-ran")) << facts;
  EXPECT_TRUE(Holds(facts, "mode=1777")) << facts;
  EXPECT_TRUE(Holds(facts, "No space left on device")) << facts;
  EXPECT_FALSE(Holds(facts, "bytes=33554432")) << facts;
}

TEST_P(DockerTest, EnvironmentHoldsWhatTheSpecSaysAndNothingOfTheHost) {
  setenv("BEIGE_TEST_HOST_VARIABLE", "leaked", 1);
  const std::string facts = Facts(Start(Script("env >/workspace/facts.part")));
  EXPECT_TRUE(Holds(facts, "PATH=/bin\n")) << facts;
  EXPECT_TRUE(Holds(facts, "HOME=/workspace\n")) << facts;
  EXPECT_TRUE(Holds(facts, "BEIGE_INSTANCE=instance-1\n")) << facts;
  EXPECT_FALSE(Holds(facts, "leaked")) << facts;
}

TEST_P(DockerTest, SandboxThatUsesTooMuchMemoryIsSeenAsOomKilled) {
  SandboxSpec spec = Spec();
  spec.memory_bytes = 16 << 20;
  spec.tmp_bytes = 1 << 20;
  spec.command = {"/bin/sh", "-c", "a=xxxxxxxxxxxxxxxx; while :; do a=$a$a; done"};
  const std::string id = Start(spec);
  ASSERT_TRUE(Reaches(id, State::kExited));
  EXPECT_EQ(Look(id).exit_code, 137);
  EXPECT_TRUE(Look(id).oom_killed);
}

TEST_P(DockerTest, ForkBombStopsAtThePidsLimit) {
  SandboxSpec spec = Script(R"sh(
    i=0; while [ $i -lt 200 ]; do sleep 1000 & i=$((i+1)); done 2>/workspace/errors
    echo done >/workspace/facts.part)sh");
  spec.pids_limit = 20;
  const std::string id = Start(spec);
  // The shell ends when it can't fork any more; busybox says "can't fork".
  ASSERT_TRUE(Eventually([&] { return Holds(ReadFile(Workspace() + "/errors").value_or(""), "fork"); }));
}

TEST_P(DockerTest, ImagesVolumesHealthCheckEntrypointUserAndWorkingDirectoryDoNotReachTheSandbox) {
  SandboxSpec spec = Script(R"sh(
    F=/workspace/facts.part
    { id -u; pwd; grep ' /data ' /proc/self/mountinfo; touch /data/x; echo "from=$FROM_IMAGE"; } >$F 2>&1)sh");
  spec.image = kVolumeImage;
  const std::string id = Start(spec);
  const std::string facts = Facts(id);
  EXPECT_TRUE(Holds(facts, std::to_string(Uid()) + "\n/workspace\n")) << facts;
  EXPECT_TRUE(Holds(facts, "tmpfs")) << facts;
  EXPECT_TRUE(Holds(facts, "/data/x: Read-only file system")) << facts;
  EXPECT_TRUE(Holds(facts, "from=yes")) << "variables of the image that are not in the way stay";
  const auto inspected = nlohmann::json::parse(docker().Ask("GET", "/containers/" + id + "/json"));
  EXPECT_FALSE(inspected["State"].contains("Health")) << inspected["State"];
  for (const auto& mount : inspected["Mounts"]) EXPECT_NE(mount["Type"], "volume") << mount;
  const auto verified = runtime().Verify(spec, id);
  ASSERT_OK(verified);
  EXPECT_TRUE(verified->empty()) << Fields(*verified);
}

TEST_P(DockerTest, VolumeBeneathOneOfOurMountsIsRefusedWithItsPath) {
  SandboxSpec spec = Spec();
  spec.image = kVolumeImage;  // VOLUME /data
  docker().Ask("POST", "/commit?container=" + Create(spec) + "&repo=localhost/beige-test-" + home_ + "&changes=VOLUME%20/workspace/inner", "{}");
  spec = Spec("a2");
  spec.image = "localhost/beige-test-" + home_;
  const auto made = runtime().Create(spec);
  docker().Ask("DELETE", "/images/localhost/beige-test-" + home_);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, Code::kInvalid);
  EXPECT_TRUE(Holds(made.error().message, "/workspace/inner")) << made.error().message;
}

TEST_P(DockerTest, EmptyImageRunsAProgramThatIsMounted) {
  SandboxSpec spec = Spec();
  spec.image = kEmptyImage;
  // The test's own static program: busybox, taken out of the other image.
  const std::string bin = dir_ / "bin";
  ASSERT_EQ(mkdir(bin.c_str(), 0755), 0);
  SandboxSpec copy = Spec("copy");
  copy.command = {"/bin/sh", "-c", "cp /bin/busybox /workspace/busybox && chmod 0755 /workspace/busybox"};
  ASSERT_TRUE(Reaches(Start(copy), State::kExited));
  ASSERT_EQ(rename((Workspace() + "/busybox").c_str(), (bin + "/busybox").c_str()), 0);
  spec.command = {"/beige/bin/busybox", "sh", "-c",
                  "B=/beige/bin/busybox; $B touch /tmp/x && $B ls / >/workspace/facts.part && $B mv /workspace/facts.part /workspace/facts; $B sleep 1000"};
  spec.mounts.push_back({MountKind::kBin, bin, "/beige/bin", true});
  const std::string id = Start(spec);
  EXPECT_TRUE(Holds(Facts(id), "workspace"));
  const auto verified = runtime().Verify(spec, id);
  ASSERT_OK(verified);
  EXPECT_TRUE(verified->empty()) << Fields(*verified);
}

TEST_P(DockerTest, EmptyImageWithoutTheProgramFailsToStartAndSaysWhichItLacks) {
  SandboxSpec spec = Spec();
  spec.image = kEmptyImage;
  const auto started = runtime().Start(Create(spec));
  ASSERT_FALSE(started.has_value());
  EXPECT_NE(started.error().code, Code::kNotFound) << "the container is there";
  EXPECT_TRUE(Holds(started.error().message, "/bin/sleep")) << started.error().message;
}

// The read-back: a container that carries our labels and name, but that nobody hardened.
TEST_P(DockerTest, VerifySeesEverythingThatAnEngineLeftUndone) {
  const SandboxSpec spec = Spec();
  nlohmann::json labels;
  labels["beige.dev/home"] = home_;
  labels["beige.dev/namespace"] = "default";
  labels["beige.dev/agent"] = "a1";
  labels["beige.dev/uid"] = spec.key.uid;
  labels["beige.dev/spec-hash"] = spec.spec_hash;
  labels["beige.dev/template"] = "3";
  labels["beige.dev/instance"] = spec.instance;
  const nlohmann::json body{
      {"Image", kBusybox},
      {"Entrypoint", {"/bin/sleep", "1000"}},
      {"Labels", labels},
      {"HostConfig", {{"Init", true}, {"IpcMode", "shareable"}, {"RestartPolicy", {{"Name", "always"}}}, {"PortBindings", {{"80/tcp", nlohmann::json::array()}}},
                      {"CapAdd", {"NET_ADMIN"}}, {"PidMode", "host"}, {"Binds", {Workspace() + ":/workspace:ro", "/etc:/host-etc:ro"}}, {"GroupAdd", {"27"}},
                      {"Devices", {{{"PathOnHost", "/dev/null"}, {"PathInContainer", "/dev/extra"}, {"CgroupPermissions", "rwm"}}}}}}};
  const std::string id = docker().Run(spec.name, body.dump());
  const auto verified = runtime().Verify(spec, id);
  ASSERT_OK(verified);
  const std::string found = Fields(*verified);
  for (const char* field :
       {"user: ", "uid of the process: ", "uid on the host: ", "supplementary group: ", "read-only root: ", "security options: ", "init of the engine: ",
        "pid namespace: ", "ipc namespace: ", "added capabilities: ", "dropped capabilities: ", "devices: ", "added groups: ",
        "restart policy: ", "capabilities CapEff: ", "capabilities CapBnd: ", "no new privileges: ", "memory: ", "memory and swap: ",
        "cpu (nanocpus): ", "pids limit: ", "memory in the control group: ", "pids limit in the control group: ", "tmpfs: ", "mount /tmp: ",
        "mount /workspace: ", "live mount /workspace: ", "binds: ", "mount /host-etc: ", "mount /: ", "network mode: ", "networks: ",
        "network interfaces: ", "core limit: ", "core limit of the process: ", "oom score: ", "variable HOME: ", "hostname: "}) {
    EXPECT_TRUE(Holds(found, field)) << "not seen: " << field << "\n" << found;
  }
}

TEST_P(DockerTest, VerifySeesAMountWhoseSourceWasReplaced) {
  const SandboxSpec spec = Spec();
  const std::string id = Start(spec);
  ASSERT_EQ(rename(Workspace().c_str(), (dir_ / "moved").c_str()), 0);
  ASSERT_EQ(mkdir(Workspace().c_str(), 0755), 0);
  const auto verified = runtime().Verify(spec, id);
  ASSERT_OK(verified);
  EXPECT_TRUE(Holds(Fields(*verified), "source of live mount /workspace")) << Fields(*verified);
}

// The engine follows links as root, and whoever may write beside a source can put one in its place, or on the way to it, before a start.
TEST_P(DockerTest, VerifySeesASourceThatIsReachedByALinkOnly) {
  for (const char* name : {"/root/skills", "/root/other/skills", "/elsewhere/skills"}) ASSERT_TRUE(MakeDirs(dir_.path() + name, 0755));
  ASSERT_EQ(symlink((dir_ / "root").c_str(), (dir_ / "linked").c_str()), 0);
  SandboxSpec spec = Spec();
  spec.mounts.push_back({MountKind::kSkills, dir_ / "linked/skills", "/skills", true, dir_ / "linked"});
  spec.mounts.push_back({MountKind::kSkills, dir_ / "linked/other/skills", "/other", true, dir_ / "linked"});
  const std::string id = Create(spec);
  ASSERT_TRUE(runtime().Start(id).has_value());
  auto verified = runtime().Verify(spec, id);
  ASSERT_OK(verified);
  EXPECT_TRUE(verified->empty()) << "links on the way to the root are the administrator's: " << Fields(*verified);
  ASSERT_TRUE(runtime().Stop(id, 0).has_value());

  ASSERT_EQ(rename((dir_ / "root/skills").c_str(), (dir_ / "root/away").c_str()), 0);
  ASSERT_EQ(symlink((dir_ / "elsewhere/skills").c_str(), (dir_ / "root/skills").c_str()), 0);
  ASSERT_EQ(rename((dir_ / "root/other").c_str(), (dir_ / "root/gone").c_str()), 0);
  ASSERT_EQ(symlink((dir_ / "elsewhere").c_str(), (dir_ / "root/other").c_str()), 0);
  ASSERT_TRUE(runtime().Start(id).has_value());
  verified = runtime().Verify(spec, id);
  ASSERT_OK(verified);
  EXPECT_TRUE(Holds(Fields(*verified), "source of live mount /skills")) << Fields(*verified);
  EXPECT_TRUE(Holds(Fields(*verified), "source of live mount /other")) << Fields(*verified);
  // Taken away again in time, the link leaves a source that is not what is mounted.
  ASSERT_EQ(unlink((dir_ / "root/skills").c_str()), 0);
  verified = runtime().Verify(spec, id);
  ASSERT_OK(verified);
  EXPECT_TRUE(Holds(Fields(*verified), "source of live mount /skills")) << Fields(*verified);
}

INSTANTIATE_TEST_SUITE_P(Docker, DockerTest, ::testing::Values(BackendKind{"docker", MakeDockerBackend}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace beige::runtime
