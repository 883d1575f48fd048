#include <nlohmann/json.hpp>

#include "tests/runtime/altering_engine.h"
#include "tests/runtime/docker_test.h"

namespace beige::runtime {

namespace {

using nlohmann::json;

struct Altered {
  const char* what;
  AlteringEngine::Change change;
  const char* told;  // the mismatch that the engine's own word shows
  // The one that the kernel shows when the engine says that all is as asked; "" = it has no word for it.
  const char* live;
};

AlteringEngine::Change Host(const char* name, json value) {
  return [=](json& body) { body["HostConfig"][name] = value; };
}
AlteringEngine::Change Top(const char* name, json value) {
  return [=](json& body) { body[name] = value; };
}
AlteringEngine::Change NoHost(const char* name) {
  return [=](json& body) { body["HostConfig"].erase(name); };
}
AlteringEngine::Change OfMount(size_t index, const char* name, json value) {
  return [=](json& body) { body["HostConfig"]["Mounts"][index][name] = value; };
}
AlteringEngine::Change MoreMount(json mount) {
  return [=](json& body) { body["HostConfig"]["Mounts"].push_back(mount); };
}
AlteringEngine::Change MoreUlimit(const char* name, int64_t value) {
  return [=](json& body) { body["HostConfig"]["Ulimits"].push_back({{"Name", name}, {"Soft", value}, {"Hard", value}}); };
}

constexpr char kUnasked[] = "settings that nobody asked for";

std::vector<Altered> WhoAndWhat() {
  return {
      {"User dropped", [](json& b) { b.erase("User"); }, "user", "uid of the process"},
      {"User root", Top("User", "0:0"), "user", "uid on the host"},
      {"User with group root", Top("User", "200000:0"), "user", "gid of the process"},
      {"GroupAdd", Host("GroupAdd", {"27"}), "added groups", "supplementary group"},
      {"CapDrop dropped", NoHost("CapDrop"), "dropped capabilities", "capabilities CapBnd"},
      {"CapDrop of one only", Host("CapDrop", {"NET_RAW"}), "dropped capabilities", "capabilities CapBnd"},
      {"CapAdd", Host("CapAdd", {"SYS_ADMIN"}), "added capabilities", "capabilities CapBnd"},
      {"Privileged", Host("Privileged", true), "privileged", "capabilities CapBnd"},
      {"no-new-privileges dropped", NoHost("SecurityOpt"), "security options", "no new privileges"},
      {"no-new-privileges false", Host("SecurityOpt", {"no-new-privileges:false"}), "security options", "no new privileges"},
      {"seccomp unconfined", Host("SecurityOpt", {"no-new-privileges:true", "seccomp=unconfined"}), "security options", "seccomp"},
      {"apparmor unconfined", Host("SecurityOpt", {"no-new-privileges:true", "apparmor=unconfined"}), "security options", ""},
      {"Image", Top("Image", kVolumeImage), "image", "mount /data"},
      {"Entrypoint", Top("Entrypoint", {"/bin/sh", "-c", "sleep 1000"}), "command", ""},
      {"Cmd", Top("Cmd", {"1"}), "arguments of the image", ""},
      {"WorkingDir", Top("WorkingDir", "/tmp"), "working directory", ""},
      {"Hostname", Top("Hostname", "other"), "hostname", ""},
      {"Domainname", Top("Domainname", "example.org"), "domain name", ""},
      {"Env added", [](json& b) { b["Env"].push_back("LD_PRELOAD=/workspace/x.so"); }, "variable LD_PRELOAD", ""},
      {"Env dropped", [](json& b) { b["Env"] = json::array(); }, "variable HOME", ""},
      {"Label changed", [](json& b) { b["Labels"]["beige.dev/spec-hash"] = "x"; }, "label beige.dev/spec-hash", ""},
      {"StopSignal", Top("StopSignal", "SIGUSR1"), "stop signal", ""},
      {"Tty", Top("Tty", true), "terminal", "mount /dev/console"},
      {"OpenStdin", Top("OpenStdin", true), "open stdin", ""},
      {"Healthcheck", Top("Healthcheck", {{"Test", {"CMD", "/bin/true"}}}), "health check", ""},
      {"Init", Host("Init", true), "init of the engine", "mount /sbin/docker-init"},
      {"RestartPolicy", Host("RestartPolicy", {{"Name", "unless-stopped"}}), "restart policy", ""},
      {"AutoRemove", Host("AutoRemove", true), kUnasked, ""},
      {"Runtime", Host("Runtime", "io.containerd.runc.v2"), "runtime", ""},
      {"LogConfig dropped", NoHost("LogConfig"), "log option max-size", ""},
      {"LogConfig without a bound", Host("LogConfig", {{"Type", "json-file"}, {"Config", {{"max-file", "1"}}}}), "log option max-size", ""},
      {"LogConfig of another driver", Host("LogConfig", {{"Type", "none"}}), "log driver", ""},
  };
}

std::vector<Altered> Namespaces() {
  return {
      {"NetworkMode host", Host("NetworkMode", "host"), "network mode", "namespaces of the host"},
      {"NetworkMode bridge", Host("NetworkMode", "bridge"), "network mode", "network interfaces"},
      {"PidMode host", Host("PidMode", "host"), "pid namespace", "process id inside"},
      {"IpcMode host", Host("IpcMode", "host"), "ipc namespace", "namespaces of the host"},
      {"IpcMode shareable", Host("IpcMode", "shareable"), "ipc namespace", ""},
      {"UTSMode host",
       [](json& b) {
         b.erase("Hostname");  // the engine refuses both
         b["HostConfig"]["UTSMode"] = "host";
       },
       "uts namespace", "namespaces of the host"},
      {"UsernsMode host", Host("UsernsMode", "host"), "user namespace", ""},
      {"CgroupnsMode host", Host("CgroupnsMode", "host"), "cgroup namespace", "namespaces of the host"},
      {"CgroupParent", Host("CgroupParent", "/beige-test-elsewhere"), kUnasked, ""},
      {"Sysctls", Host("Sysctls", {{"kernel.msgmax", "65536"}}), "sysctls", ""},
      {"PortBindings", Host("PortBindings", {{"80/tcp", json::array({{{"HostPort", ""}}})}}), "published ports", ""},
      {"PublishAllPorts", Host("PublishAllPorts", true), "publish all ports", ""},
      {"Dns", Host("Dns", {"192.0.2.1"}), kUnasked, ""},
      {"ExtraHosts", Host("ExtraHosts", {"host.docker.internal:192.0.2.1"}), kUnasked, ""},
      {"MaskedPaths", Host("MaskedPaths", json::array()), "masked path /proc/keys", "live path /proc/"},
      {"ReadonlyPaths", Host("ReadonlyPaths", json::array()), "read-only path /proc/sys", "live path /proc/sys"},
  };
}

std::vector<Altered> Limits() {
  return {
      {"Memory dropped",
       [](json& b) {
         b["HostConfig"].erase("Memory");
         b["HostConfig"].erase("MemorySwap");
       },
       "memory", "memory in the control group"},
      {"Memory doubled",
       [](json& b) { b["HostConfig"]["Memory"] = b["HostConfig"]["MemorySwap"] = b["HostConfig"]["Memory"].get<int64_t>() * 2; }, "memory",
       "memory in the control group"},
      {"MemorySwap without a bound", Host("MemorySwap", -1), "memory and swap", ""},
      {"MemoryReservation", Host("MemoryReservation", 64 << 20), kUnasked, ""},
      {"OomKillDisable", Host("OomKillDisable", true), "oom kill disabled", ""},
      {"OomScoreAdj dropped", NoHost("OomScoreAdj"), "oom score", ""},
      {"ShmSize dropped", NoHost("ShmSize"), "shm size", "size of /dev/shm"},
      {"NanoCpus dropped", NoHost("NanoCpus"), "cpu (nanocpus)", "cpu in the control group"},
      {"NanoCpus raised", Host("NanoCpus", 1'000'000'000), "cpu (nanocpus)", "cpu in the control group"},
      {"CpuShares", Host("CpuShares", 100'000), kUnasked, ""},
      {"CpusetCpus", Host("CpusetCpus", "0"), kUnasked, ""},
      {"PidsLimit dropped", NoHost("PidsLimit"), "pids limit", "pids limit in the control group"},
      {"PidsLimit raised", Host("PidsLimit", 9'999), "pids limit", "pids limit in the control group"},
      {"Ulimits dropped", NoHost("Ulimits"), "core limit", "core limit of the process"},
      {"Ulimit rtprio", MoreUlimit("rtprio", 1), "rtprio limit", ""},
      {"Ulimit nice", MoreUlimit("nice", 1), "nice limit", ""},
  };
}

std::vector<Altered> Files(const std::string& elsewhere) {
  const auto bind = [&](const char* target) {
    return json{{"Type", "bind"}, {"Source", elsewhere}, {"Target", target}, {"ReadOnly", true}};
  };
  return {
      {"ReadonlyRootfs dropped", NoHost("ReadonlyRootfs"), "read-only root", "mount /"},
      {"Mounts dropped", NoHost("Mounts"), "mount /workspace", "live mount /workspace"},
      {"Mount missing", [](json& b) { b["HostConfig"]["Mounts"].erase(1); }, "mount /tools/packages", "live mount /tools/packages"},
      {"Mount writable", OfMount(1, "ReadOnly", false), "mount /tools/packages", "live mount /tools/packages"},
      {"Mount read-only", OfMount(0, "ReadOnly", true), "mount /workspace", "live mount /workspace"},
      {"Mount of another source", OfMount(0, "Source", elsewhere), "mount /workspace", "source of live mount /workspace"},
      {"Mount added", MoreMount(bind("/extra")), "mount /extra", "mount /extra"},
      {"Mount over what was asked for", MoreMount(bind("/tools/packages/inner")), "mount /tools/packages/inner", "mount /tools/packages/inner"},
      {"Binds", Host("Binds", {elsewhere + ":/extra"}), "binds", "mount /extra"},
      {"Volumes", Top("Volumes", {{"/vol", json::object()}}), "mount /vol", "mount /vol"},
      {"Tmpfs dropped", NoHost("Tmpfs"), "tmpfs", "mount /tmp"},
      {"Tmpfs larger", Host("Tmpfs", {{"/tmp", "rw,exec,nosuid,nodev,size=33554432,mode=1777"}}), "tmpfs", "size of /tmp"},
      {"Tmpfs without a bound", Host("Tmpfs", {{"/tmp", "rw,exec,nosuid,nodev,mode=1777"}}), "tmpfs", "size of /tmp"},
      {"Tmpfs with devices", Host("Tmpfs", {{"/tmp", "rw,exec,suid,dev,size=16777216,mode=1777"}}), "tmpfs", "mount /tmp"},
      {"Tmpfs added", [](json& b) { b["HostConfig"]["Tmpfs"]["/extra"] = "size=4096"; }, "tmpfs", "mount /extra"},
      {"Devices", Host("Devices", json::array({{{"PathOnHost", "/dev/null"}, {"PathInContainer", "/dev/extra"}, {"CgroupPermissions", "rwm"}}})),
       "devices", "device nodes"},
      {"Devices in a directory",
       Host("Devices", json::array({{{"PathOnHost", "/dev/null"}, {"PathInContainer", "/dev/net/tun"}, {"CgroupPermissions", "rwm"}}})), "devices",
       "device nodes"},
      {"DeviceCgroupRules", Host("DeviceCgroupRules", {"b *:* rwm"}), "devices", ""},
  };
}

bool Names(const std::vector<Mismatch>& list, const std::string& field) {
  return std::any_of(list.begin(), list.end(), [&](const Mismatch& m) { return m.field.starts_with(field); });
}

std::string Told(const std::vector<Mismatch>& list) {
  std::string out;
  for (const Mismatch& m : list) out += m.field + ": want " + m.want + ", have " + m.have + "\n";
  return out;
}

}  // namespace

class AlteredTest : public DockerTest {
 protected:
  void SetUp() override {
    DockerTest::SetUp();
    if (!backend_) return;
    engine_ = std::make_unique<AlteringEngine>(TestEngineSocket(), docker());
    through_ = docker::MakeDockerRuntime({.socket = engine_->socket(), .observer = nullptr});
    for (const char* name : {"docs", "elsewhere"}) ASSERT_EQ(mkdir((dir_ / name).c_str(), 0755), 0);
    ASSERT_EQ(mkdir((dir_ / "docs/inner").c_str(), 0755), 0);
    twin_ = Start(Asked("twin"));
  }
  void TearDown() override {
    through_.reset();
    engine_.reset();
    DockerTest::TearDown();
  }
  // The same settings under another name.
  SandboxSpec Asked(const std::string& name) const {
    SandboxSpec spec = Spec();
    spec.name += "-" + name;
    spec.mounts.push_back({MountKind::kDocs, dir_ / "docs", "/tools/packages", true});
    return spec;
  }
  std::vector<Mismatch> Verify(const SandboxSpec& spec, const std::string& id) {
    const auto verified = through_->Verify(spec, id);
    EXPECT_TRUE(verified.has_value()) << verified.error().message;
    return verified.value_or(std::vector<Mismatch>());
  }
  void Check(const Altered& altered) {
    SCOPED_TRACE(altered.what);
    const SandboxSpec spec = Asked("x");
    engine_->Alter(altered.change);
    const auto id = through_->Create(spec);
    engine_->Alter(nullptr);
    ASSERT_TRUE(id.has_value()) << id.error().message;
    const std::vector<Mismatch> told = Verify(spec, *id);
    EXPECT_TRUE(Names(told, altered.told)) << "the engine's word shows no mismatch of " << altered.told << ":\n" << Told(told);
    if (*altered.live != '\0') {
      const auto started = through_->Start(*id);
      EXPECT_TRUE(started.has_value()) << started.error().message;
      engine_->LieLike(twin_);
      const std::vector<Mismatch> live = Verify(spec, *id);
      engine_->LieLike("");
      EXPECT_TRUE(Names(live, altered.live)) << "the kernel's word shows no mismatch of " << altered.live << ":\n" << Told(live);
    }
    EXPECT_TRUE(runtime().Remove(*id).has_value());
  }
  void CheckAll(const std::vector<Altered>& cases) {
    for (const Altered& altered : cases) Check(altered);
  }

  std::unique_ptr<AlteringEngine> engine_;
  std::unique_ptr<SandboxRuntime> through_;
  std::string twin_;
};

TEST_P(AlteredTest, AnEngineThatDoesAsAskedIsFoundToDoSo) {
  EXPECT_EQ(Told(Verify(Asked("twin"), twin_)), "");
  engine_->LieLike(twin_);
  EXPECT_EQ(Told(Verify(Asked("twin"), twin_)), "") << "the lie itself differs in nothing";
}
TEST_P(AlteredTest, EveryFieldOfIdentityAndPrivilegeThatAnEngineAltersIsNamed) { CheckAll(WhoAndWhat()); }
TEST_P(AlteredTest, EveryNamespaceAndKernelSettingThatAnEngineAltersIsNamed) { CheckAll(Namespaces()); }
TEST_P(AlteredTest, EveryLimitThatAnEngineDropsOrRaisesIsNamed) { CheckAll(Limits()); }
TEST_P(AlteredTest, EveryMountThatAnEngineDropsAddsOrAltersIsNamed) { CheckAll(Files(dir_ / "elsewhere")); }

TEST_P(AlteredTest, AVolumeOfAnotherContainerIsNamed) {
  Check({"VolumesFrom", Host("VolumesFrom", {twin_}), "volumes of other containers", ""});
}

TEST_P(AlteredTest, ASandboxThatSomebodyConnectsToANetworkTellsAndIsNamed) {
  std::atomic<bool> told{false};
  std::atomic<bool> up{false};
  const auto subscription = runtime().Subscribe(
      home_, [&](const Event& event) { told = told || (event.action == "network-connect" && event.id == twin_); }, [&](bool now) { up = now; });
  ASSERT_TRUE(Eventually([&] { return up.load(); }));
  docker().Ask("POST", "/networks/none/disconnect", json{{"Container", twin_}}.dump());
  docker().Ask("POST", "/networks/bridge/connect", json{{"Container", twin_}}.dump());
  EXPECT_TRUE(Eventually([&] { return told.load(); }));
  const std::vector<Mismatch> found = Verify(Asked("twin"), twin_);
  EXPECT_TRUE(Names(found, "networks") && Names(found, "network interfaces")) << Told(found);
}

TEST_P(AlteredTest, SettingsThatSomebodyUpdatesAreNamed) {
  docker().Ask("POST", "/containers/" + twin_ + "/update", json{{"Memory", 256 << 20}, {"MemorySwap", 256 << 20}, {"PidsLimit", 128}}.dump());
  const std::vector<Mismatch> found = Verify(Asked("twin"), twin_);
  EXPECT_TRUE(Names(found, "memory") && Names(found, "pids limit in the control group")) << Told(found);
}

INSTANTIATE_TEST_SUITE_P(Docker, AlteredTest, ::testing::Values(BackendKind{"docker", MakeDockerBackend}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace beige::runtime
