#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/engine/harden.h"
#include "runtime/engine/labels.h"
#include "runtime/engine/log_frames.h"
#include "runtime/engine/progress.h"
#include "runtime/engine/wire.h"

namespace beige::runtime::engine {

namespace {

SandboxSpec Spec() {
  SandboxSpec spec;
  spec.key = {"home", "default", "a1", "uid-1"};
  spec.name = "beige-home-uid-a1";
  spec.instance = "i1";
  spec.spec_hash = "h1";
  spec.template_version = 2;
  spec.image = "localhost/x:1";
  spec.command = {"/beige/bin/beige-sandbox", "init"};
  spec.hostname = "a1";
  spec.uid = 200'000;
  spec.gid = 200'001;
  spec.env = {{"PATH", "/tools/bin:/bin"}};
  spec.memory_bytes = int64_t{6} << 30;
  spec.cpu_millis = 1'500;
  spec.pids_limit = 512;
  spec.tmp_bytes = 64 << 20;
  spec.mounts = {{MountKind::kWorkspace, "/srv/a1", "/workspace", false}, {MountKind::kBin, "/srv/bin", "/beige/bin", true}};
  return spec;
}

}  // namespace

TEST(EncodeCreateTest, IsTheHardenedBodyFieldByField) {
  ImageInspect image;
  image.volumes = {"/data", "/workspace/", "/tmp"};
  image.env = {{"PATH", "/image"}, {"BEIGE_INSTANCE", "forged"}, {"LD_PRELOAD", "/evil.so"}, {"LANG", "C"}};
  const auto request = Harden(Spec(), image, 20'000);
  ASSERT_TRUE(request.has_value()) << request.error().message;
  const auto want = nlohmann::json::parse(R"({
    "Image": "localhost/x:1", "Entrypoint": ["/beige/bin/beige-sandbox", "init"], "Cmd": [], "User": "200000:200001",
    "WorkingDir": "/workspace", "Hostname": "a1", "Env": ["BEIGE_INSTANCE=", "LD_PRELOAD=", "PATH=/tools/bin:/bin"],
    "Labels": {"beige.dev/home": "home", "beige.dev/namespace": "default", "beige.dev/agent": "a1", "beige.dev/uid": "uid-1",
               "beige.dev/spec-hash": "h1", "beige.dev/template": "2", "beige.dev/instance": "i1"},
    "StopSignal": "SIGTERM", "Healthcheck": {"Test": ["NONE"]}, "Tty": false, "OpenStdin": false,
    "HostConfig": {
      "CapDrop": ["ALL"], "SecurityOpt": ["no-new-privileges:true"], "Privileged": false, "ReadonlyRootfs": true, "Init": false,
      "IpcMode": "private", "CgroupnsMode": "private", "RestartPolicy": {"Name": "no"},
      "LogConfig": {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "1"}},
      "NetworkMode": "none", "Memory": 6442450944, "MemorySwap": 6442450944, "NanoCpus": 1500000000, "PidsLimit": 512,
      "ShmSize": 67108864, "OomScoreAdj": 500,
      "Tmpfs": {"/tmp": "rw,exec,nosuid,nodev,size=67108864,mode=1777"},
      "Ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}, {"Name": "nofile", "Soft": 20000, "Hard": 20000}],
      "Mounts": [
        {"Type": "bind", "Source": "/srv/a1", "Target": "/workspace", "ReadOnly": false, "BindOptions": {"Propagation": "rprivate"}},
        {"Type": "bind", "Source": "/srv/bin", "Target": "/beige/bin", "ReadOnly": true, "BindOptions": {"Propagation": "rprivate"}},
        {"Type": "tmpfs", "Target": "/data", "ReadOnly": true, "TmpfsOptions": {"SizeBytes": 65536, "Mode": 365}}]}})");
  EXPECT_EQ(nlohmann::json::parse(EncodeCreate(*request)), want);
}

TEST(EncodeCreateTest, OpenEgressAndRuntimeClassAreNamed) {
  SandboxSpec spec = Spec();
  spec.network = Network::kOpen;
  spec.runtime_class = "runsc";
  const auto body = nlohmann::json::parse(EncodeCreate(*Harden(spec, {}, 1'024)));
  EXPECT_EQ(body["HostConfig"]["NetworkMode"], spec.name);
  EXPECT_EQ(body["HostConfig"]["Runtime"], "runsc");
  EXPECT_EQ(body["HostConfig"]["Ulimits"][1]["Hard"], 1'024);
}

TEST(HardenTest, VariableOfTheSpecWinsOverTheImages) {
  SandboxSpec spec = Spec();
  spec.env["LD_PRELOAD"] = "/lib/ours.so";
  ImageInspect image;
  image.env = {{"LD_PRELOAD", "/evil.so"}};
  EXPECT_EQ(Harden(spec, image, 1'024)->env.at("LD_PRELOAD"), "/lib/ours.so");
}

TEST(HardenTest, SharedMemoryStaysWithinASmallLimit) {
  SandboxSpec spec = Spec();
  spec.memory_bytes = 16 << 20;
  spec.tmp_bytes = 1 << 20;
  EXPECT_EQ(Harden(spec, {}, 1'024)->shm_size, 4 << 20);
}

TEST(HardenTest, FileLimitIsNeverAboveOurOwn) { EXPECT_LE(FileLimit(), kMostFiles); }

TEST(DecodeContainerTest, ReadsAStoppedContainerOfDocker) {
  const auto container = DecodeContainer(R"({"Id":"c1","Name":"/beige-x","Image":"sha256:aa","RestartCount":0,
    "State":{"Status":"exited","Running":false,"Paused":false,"OOMKilled":true,"Pid":0,"ExitCode":137,"Error":"",
             "StartedAt":"2026-11-29T20:20:46.68Z","FinishedAt":"2026-11-29T20:21:00Z"},
    "Config":{"Image":"localhost/x:1","User":"1:2","Env":["A=b=c"],"Cmd":null,"Entrypoint":["/bin/sh"],
              "Labels":{"beige.dev/home":"h","beige.dev/namespace":"n","beige.dev/agent":"a","beige.dev/uid":"u",
                        "beige.dev/template":"7","beige.dev/spec-hash":"s","beige.dev/instance":"i"}},
    "HostConfig":{"Memory":5368709120,"PidsLimit":null,"Binds":null,"Ulimits":null,"Init":null}})");
  ASSERT_TRUE(container.has_value()) << container.error().message;
  EXPECT_EQ(container->memory, int64_t{5} << 30);
  EXPECT_EQ(SplitEnv(container->env).at("A"), "b=c");
  const Observed observed = ToObserved(*container);
  EXPECT_EQ(observed.name, "beige-x");
  EXPECT_EQ(observed.state, State::kExited);
  EXPECT_EQ(observed.exit_code, 137);
  EXPECT_TRUE(observed.oom_killed);
  EXPECT_EQ(observed.key, (SandboxKey{"h", "n", "a", "u"}));
  EXPECT_EQ(observed.template_version, 7);
  EXPECT_EQ(observed.finished_at, "2026-11-29T20:21:00Z");
}

TEST(DecodeContainerTest, TimesThatNeverWereAreEmpty) {
  const auto container = DecodeContainer(R"({"Id":"c","State":{"Status":"created","StartedAt":"0001-01-01T00:00:00Z","FinishedAt":"0001-01-01T00:00:00Z"}})");
  EXPECT_EQ(ToObserved(*container).started_at, "");
  EXPECT_EQ(ToObserved(*container).finished_at, "");
}

TEST(DecodeContainerTest, KnowsEveryStateAndCallsTheRestUnknown) {
  EXPECT_EQ(ToState("created"), State::kCreated);
  EXPECT_EQ(ToState("running"), State::kRunning);
  EXPECT_EQ(ToState("paused"), State::kPaused);
  EXPECT_EQ(ToState("restarting"), State::kRestarting);
  EXPECT_EQ(ToState("exited"), State::kExited);
  EXPECT_EQ(ToState("stopped"), State::kExited);
  EXPECT_EQ(ToState("removing"), State::kDead);
  EXPECT_EQ(ToState("dead"), State::kDead);
  EXPECT_EQ(ToState("improbable"), State::kUnknown);
}

TEST(LabelsTest, KeyNeedsAllFourLabels) {
  const SandboxKey key{"h", "n", "a", "u"};
  EXPECT_EQ(KeyOf(KeyLabels(key)), key);
  for (const char* missing : {"beige.dev/home", "beige.dev/namespace", "beige.dev/agent", "beige.dev/uid"}) {
    Labels labels = KeyLabels(key);
    labels.erase(missing);
    EXPECT_EQ(KeyOf(labels), SandboxKey{}) << missing;
  }
}

TEST(DecodeImageTest, DigestIsThePartAfterTheRepositoryAndPodmansBareIdGetsItsPrefix) {
  const auto image = DecodeImage(R"({"Id":"abc","RepoDigests":["example.org/x@sha256:d1"],"Config":{"Volumes":{"/v":{}},"Env":["A=1"]}})");
  ASSERT_TRUE(image.has_value());
  EXPECT_EQ(ToImage(*image), (Image{"sha256:abc", "sha256:d1"}));
  EXPECT_EQ(image->volumes, std::vector<std::string>{"/v"});
  EXPECT_EQ(ToImage(*DecodeImage(R"({"Id":"sha256:abc","RepoDigests":null,"Config":null})")), (Image{"sha256:abc", ""}));
}

TEST(DecodeEventTest, ReadsDockersAndPodmansFormAndDropsWhatIsNotOurs) {
  const std::string attributes = R"("Attributes":{"beige.dev/home":"h","beige.dev/namespace":"n","beige.dev/agent":"a","beige.dev/uid":"u"})";
  auto event = DecodeEvent(R"({"Type":"container","Action":"oom","Actor":{"ID":"c1",)" + attributes + "}}");
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->action, "oom");
  EXPECT_EQ(event->id, "c1");
  EXPECT_EQ(event->key.uid, "u");
  event = DecodeEvent(R"({"status":"died","id":"c2","Type":"container","Action":"died","Actor":{"ID":"c2",)" + attributes + "}}");
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->action, "die");
  event = DecodeEvent(R"({"Type":"container","Action":"remove","Actor":{"ID":"c2",)" + attributes + "}}");
  EXPECT_EQ(event->action, "destroy");
  EXPECT_FALSE(DecodeEvent(R"({"Type":"network","Action":"connect","Actor":{"ID":"c2",)" + attributes + "}}").has_value());
  EXPECT_FALSE(DecodeEvent(R"({"Type":"container","Action":"start","Actor":{"ID":"c1","Attributes":{"beige.dev/home":"h"}}})").has_value());
  EXPECT_FALSE(DecodeEvent("not json").has_value());
  EXPECT_FALSE(DecodeEvent("[1]").has_value());
}

TEST(DecodeStatsTest, TakesDroppablePagesOffTheMemory) {
  const auto v1 = DecodeStats(R"({"memory_stats":{"usage":1000,"stats":{"total_inactive_file":300}},"cpu_stats":{"cpu_usage":{"total_usage":7}},"pids_stats":{"current":3}})");
  EXPECT_EQ(*v1, (Stats{700, 7, 3}));
  const auto v2 = DecodeStats(R"({"memory_stats":{"usage":1000,"stats":{"inactive_file":400}},"cpu_stats":{},"pids_stats":{}})");
  EXPECT_EQ(*v2, (Stats{600, 0, 0}));
  EXPECT_FALSE(DecodeStats("[]").has_value());
}

TEST(DecodeStatsTest, NumbersBeyondTheRangeAreTheRangesEnd) {
  const auto huge = DecodeStats(R"({"memory_stats":{"usage":9223372036854775807,"stats":{"inactive_file":-5}},"cpu_stats":{"cpu_usage":{"total_usage":1e300}},"pids_stats":{"current":18446744073709551615}})");
  EXPECT_EQ(*huge, (Stats{INT64_MAX, INT64_MAX, INT64_MAX}));
  const auto low = DecodeStats(R"({"memory_stats":{"usage":-1e300},"cpu_stats":{},"pids_stats":{"current":1.9}})");
  EXPECT_EQ(*low, (Stats{INT64_MIN, 0, 1}));
}

TEST(DecodeContainerTest, AnEntryThatIsNestedWithoutEndIsNotPrinted) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const auto container = DecodeContainer(R"({"Id":"a","Config":{"Env":[{"x":1},)" + deep + "]}}");
  ASSERT_TRUE(container.has_value());
  EXPECT_EQ(container->env, (std::vector<std::string>{R"({"x":1})", "(nested too deep)"}));
}

TEST(ProgressTest, ShowsLinesWhereverTheyAreCut) {
  const std::string bytes =
      "{\"status\":\"Pulling from x\",\"id\":\"latest\"}\r\n{\"stream\":\"Step 1/2\\n\"}\n\n"
      "{\"status\":\"Downloading\",\"progress\":\"[=>] 1/2\",\"id\":\"aa\"}\n{\"aux\":{\"ID\":\"x\"}}\n{\"status\":\"Done\"}";
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    std::vector<std::string> lines;
    ProgressReader reader([&](const std::string& line) { lines.push_back(line); });
    ASSERT_TRUE(reader.Feed(bytes.substr(0, cut)).has_value());
    ASSERT_TRUE(reader.Feed(bytes.substr(cut)).has_value());
    ASSERT_TRUE(reader.End().has_value());
    EXPECT_EQ(lines, (std::vector<std::string>{"latest: Pulling from x", "Step 1/2", "aa: Downloading [=>] 1/2", "Done"})) << cut;
  }
}

TEST(ProgressTest, ErrorLineUnderStatus200IsAnError) {
  ProgressReader reader(nullptr);
  const auto fed = reader.Feed("{\"errorDetail\":{\"message\":\"connection reset\"},\"error\":\"connection reset\"}\n");
  ASSERT_FALSE(fed.has_value());
  EXPECT_EQ(fed.error(), (Error{Code::kUnavailable, "connection reset"}));
  ProgressReader other(nullptr);
  EXPECT_EQ(other.Feed("{\"error\":\"manifest unknown\"}\n").error().code, Code::kNotFound);
  ProgressReader last(nullptr);
  ASSERT_TRUE(last.Feed("{\"error\":\"cut\"}").has_value());
  EXPECT_EQ(last.End().error().message, "cut") << "without its newline at the end";
}

TEST(ProgressTest, LineWithoutEndIsBounded) {
  LineSplitter splitter(1'000);
  const auto take = [](std::string_view) { return Result<>(); };
  ASSERT_TRUE(splitter.Feed(std::string(900, 'x'), take).has_value());
  EXPECT_FALSE(splitter.Feed(std::string(200, 'x'), take).has_value());
}

TEST(ProgressTest, AWholeLineIsBoundedAsWell) {
  LineSplitter splitter(1'000);
  int lines = 0;
  const auto take = [&](std::string_view) { return ++lines, Result<>(); };
  EXPECT_FALSE(splitter.Feed("a\n" + std::string(1'001, 'x') + "\n", take).has_value());
  EXPECT_EQ(lines, 1);
}

TEST(LogFramesTest, JoinsStreamsAndKeepsWhatIsNoFrame) {
  const std::string out("\x01\0\0\0\0\0\0\x03one", 11);
  const std::string err("\x02\0\0\0\0\0\0\x03two", 11);
  EXPECT_EQ(JoinLogFrames(out + err), "onetwo");
  EXPECT_EQ(JoinLogFrames((out + err).substr(0, 20)), "onet") << "cut in the last frame";
  EXPECT_EQ(JoinLogFrames("plain text of a terminal"), "plain text of a terminal");
  EXPECT_EQ(JoinLogFrames(""), "");
  EXPECT_EQ(JoinLogFrames(std::string("\x01\0\0\0\xff\xff\xff\xff", 8) + "x"), "x") << "a length that is not there";
}

}  // namespace beige::runtime::engine
