#include <algorithm>

#include "tests/runtime/suite.h"

namespace beige::runtime {

namespace {

std::string Shown(const std::vector<Mismatch>& list) {
  std::string out;
  for (const Mismatch& m : list) out += m.field + ": want " + m.want + ", have " + m.have + "\n";
  return out;
}

}  // namespace

TEST_P(RuntimeTest, VerifyFindsNothingOnASandboxThatIsAsAsked) {
  SandboxSpec spec = Spec();
  mkdir((dir_ / "docs").c_str(), 0755);
  dir_.Write("passwd", "agent:x:200000:200000::/workspace:/bin/sh\n");
  spec.mounts.push_back({MountKind::kDocs, dir_ / "docs", "/tools/packages", true});
  spec.mounts.push_back({MountKind::kPasswd, dir_ / "passwd", "/etc/passwd", true});
  const std::string id = Start(spec);
  const auto verified = runtime().Verify(spec, id);
  ASSERT_OK(verified);
  EXPECT_TRUE(verified->empty()) << Shown(*verified);
}

TEST_P(RuntimeTest, VerifyNamesEachFieldThatDiffers) {
  const std::string id = Start(Spec());
  mkdir((dir_ / "other").c_str(), 0755);
  const std::string other = dir_ / "other";
  const std::vector<std::pair<std::string, std::function<void(SandboxSpec&)>>> cases{
      {"user", [](SandboxSpec& s) { s.uid += 1; }},
      {"user", [](SandboxSpec& s) { s.gid += 1; }},
      {"memory", [](SandboxSpec& s) { s.memory_bytes *= 2; }},
      {"memory and swap", [](SandboxSpec& s) { s.memory_bytes *= 2; }},
      {"cpu", [](SandboxSpec& s) { s.cpu_millis = 600; }},
      {"pids limit", [](SandboxSpec& s) { s.pids_limit = 65; }},
      {"tmpfs", [](SandboxSpec& s) { s.tmp_bytes += 4096; }},
      {"network", [](SandboxSpec& s) { s.network = Network::kOpen; }},
      {"runtime", [](SandboxSpec& s) { s.runtime_class = "runsc"; }},
      {"command", [](SandboxSpec& s) { s.command.push_back("1"); }},
      {"working directory", [](SandboxSpec& s) { s.working_dir = "/tmp"; }},
      {"hostname", [](SandboxSpec& s) { s.hostname = "other"; }},
      {"variable HOME", [](SandboxSpec& s) { s.env["HOME"] = "/"; }},
      {"variable NEW", [](SandboxSpec& s) { s.env["NEW"] = "1"; }},
      {"variable BEIGE_INSTANCE", [](SandboxSpec& s) { s.env.erase("BEIGE_INSTANCE"); }},
      {"label beige.dev/spec-hash", [](SandboxSpec& s) { s.spec_hash = "hash-2"; }},
      {"label beige.dev/uid", [](SandboxSpec& s) { s.key.uid += "x"; }},
      {"image", [](SandboxSpec& s) { s.image = kEmptyImage; }},
      {"image", [](SandboxSpec& s) { s.image = "sha256:" + std::string(64, '0'); }},
      {"mount /workspace", [](SandboxSpec& s) { s.mounts[0].read_only = true; }},
      {"mount /workspace", [other](SandboxSpec& s) { s.mounts[0].source = other; }},
      {"mount /workspace", [](SandboxSpec& s) { s.mounts.clear(); }},
      {"mount /data", [other](SandboxSpec& s) { s.mounts.push_back({MountKind::kVolume, other, "/data", true}); }},
  };
  for (const auto& [field, change] : cases) {
    SandboxSpec spec = Spec();
    change(spec);
    const auto verified = runtime().Verify(spec, id);
    ASSERT_OK(verified);
    EXPECT_TRUE(std::any_of(verified->begin(), verified->end(), [&, f = field](const Mismatch& m) { return m.field.starts_with(f); }))
        << "no mismatch of " << field << " in:\n" << Shown(*verified);
  }
}

TEST_P(RuntimeTest, VerifyOfAStoppedSandboxSaysSoAndOfAGoneOneIsNotFound) {
  const SandboxSpec spec = Spec();
  const std::string id = Start(spec);
  ASSERT_OK(runtime().Stop(id, 0));
  auto verified = runtime().Verify(spec, id);
  ASSERT_OK(verified);
  EXPECT_EQ(*verified, (std::vector<Mismatch>{{"state", "running", "exited"}})) << Shown(*verified);
  ASSERT_OK(runtime().Remove(id));
  verified = runtime().Verify(spec, id);
  ASSERT_FALSE(verified.has_value());
  EXPECT_EQ(verified.error().code, Code::kNotFound);
}

TEST_P(RuntimeTest, MemoryAboveFourGibibytesIsKeptToTheByte) {
  SandboxSpec spec = Spec();
  spec.memory_bytes = (int64_t{5} << 30) + 4096;
  spec.tmp_bytes = int64_t{4} << 30;
  const std::string id = Start(spec);
  const auto verified = runtime().Verify(spec, id);
  ASSERT_OK(verified);
  EXPECT_TRUE(verified->empty()) << Shown(*verified);
}

TEST_P(RuntimeTest, FractionsOfACpuAreKept) {
  SandboxSpec spec = Spec();
  spec.cpu_millis = 333;
  const auto verified = runtime().Verify(spec, Start(spec));
  ASSERT_OK(verified);
  EXPECT_TRUE(verified->empty()) << Shown(*verified);
}

TEST_P(RuntimeTest, FindsAnImageByReferenceAndByIdAndNothingWhereThereIsNone) {
  const auto by_name = runtime().FindImage(kBusybox);
  ASSERT_OK(by_name);
  ASSERT_TRUE(by_name->has_value());
  EXPECT_TRUE((*by_name)->id.starts_with("sha256:"));
  const auto by_id = runtime().FindImage((*by_name)->id);
  ASSERT_OK(by_id);
  EXPECT_EQ(*by_id, *by_name);
  const auto none = runtime().FindImage("localhost/no-such-image:1");
  ASSERT_OK(none);
  EXPECT_EQ(*none, std::nullopt);
}

TEST_P(RuntimeTest, SandboxOfAnImageIdIsVerifiedAgainstThatId) {
  SandboxSpec spec = Spec();
  const auto image = runtime().FindImage(kBusybox);
  ASSERT_OK(image);
  spec.image = (*image)->id;
  const std::string id = Start(spec);
  EXPECT_EQ(Look(id).image_id, spec.image);
  const auto verified = runtime().Verify(spec, id);
  ASSERT_OK(verified);
  EXPECT_TRUE(verified->empty()) << Shown(*verified);
}

TEST_P(RuntimeTest, PullThatFailsIsReportedWithTheReference) {
  const std::string reference = "localhost:1/beige/none:1";
  const auto pulled = runtime().PullImage(reference, nullptr);
  ASSERT_FALSE(pulled.has_value());
  EXPECT_NE(pulled.error().message.find(reference), std::string::npos) << pulled.error().message;
}

TEST_P(RuntimeTest, LoadOfAFileThatIsNotThereIsNotFound) {
  const auto loaded = runtime().LoadImage(dir_ / "missing.tar", nullptr);
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, Code::kNotFound) << loaded.error().message;
}

TEST_P(RuntimeTest, ReadsTheUseOfARunningSandbox) {
  const std::string id = Start(Spec());
  const auto stats = runtime().ReadStats(id);
  ASSERT_OK(stats);
  EXPECT_GT(stats->memory_bytes, 0);
  EXPECT_LE(stats->memory_bytes, 128 << 20);
  EXPECT_GE(stats->pids, 1);
  EXPECT_GT(stats->cpu_nanos, 0);
}

}  // namespace beige::runtime
