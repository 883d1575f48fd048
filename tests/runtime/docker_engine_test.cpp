#include <algorithm>
#include <fcntl.h>

#include <fstream>
#include <future>

#include "tests/runtime/docker_test.h"
#include "tests/runtime/tar.h"

namespace beige::runtime {

namespace {

class DockerEngineTest : public DockerTest {
 protected:
  std::string Tag() const { return "localhost/beige-test-" + home_ + ":1"; }
  void Untag() { docker().Ask("DELETE", "/images/" + Tag()); }
};

}  // namespace

TEST_P(DockerEngineTest, LoadsAnImageFromATarAndTellsItsProgress) {
  const std::string tar = dir_ / "image.tar";
  docker().Ask("POST", "/images/" + std::string(kBusybox) + "/tag?repo=localhost/beige-test-" + home_ + "&tag=1");
  {
    std::ofstream out(tar, std::ios::binary);
    const auto saved = docker().http().Stream({.operation = "save", .path = "/images/" + Tag() + "/get"}, [&](std::string_view bytes) -> Result<> {
      out << bytes;
      return {};
    });
    ASSERT_OK(saved);
  }
  Untag();
  ASSERT_EQ(*runtime().FindImage(Tag()), std::nullopt);
  std::vector<std::string> lines;
  ASSERT_OK(runtime().LoadImage(tar, [&](const std::string& line) { lines.push_back(line); }));
  EXPECT_TRUE((*runtime().FindImage(Tag())).has_value());
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back(), "Loaded image: " + Tag());
  Untag();
}

TEST_P(DockerEngineTest, LoadOfAFileThatIsNoImageFailsWithTheEnginesWords) {
  const auto loaded = runtime().LoadImage(dir_.Write("bad.tar", std::string(4096, 'x')), nullptr);
  ASSERT_FALSE(loaded.has_value());
  EXPECT_NE(loaded.error().message.find("bad.tar"), std::string::npos) << loaded.error().message;
}

TEST_P(DockerEngineTest, BuildsAnImageFromAContextAndTellsItsProgress) {
  const std::string context = dir_.Write("context.tar", TarOf("Dockerfile", "FROM localhost/busybox:test\nLABEL built=yes\n"));
  std::vector<std::string> lines;
  ASSERT_OK(runtime().BuildImage(context, Tag(), [&](const std::string& line) { lines.push_back(line); }));
  EXPECT_TRUE((*runtime().FindImage(Tag())).has_value());
  ASSERT_FALSE(lines.empty());
  EXPECT_TRUE(lines.front().starts_with("Step 1/2 : FROM localhost/busybox:test")) << lines.front();
  Untag();
}

TEST_P(DockerEngineTest, FailedBuildIsAnErrorThoughTheAnswerBeganWell) {
  const std::string context = dir_.Write("context.tar", TarOf("Dockerfile", "FROM localhost/busybox:test\nCOPY missing /\n"));
  const auto built = runtime().BuildImage(context, Tag(), nullptr);
  ASSERT_FALSE(built.has_value());
  EXPECT_NE(built.error().message.find("missing"), std::string::npos) << built.error().message;
}

TEST_P(DockerEngineTest, LogsAreTheTextOfBothStreamsFromTheEnd) {
  SandboxSpec spec = Spec();
  spec.command = {"/bin/sh", "-c", "echo first; echo second >&2; echo third; exit 7"};
  const std::string id = Start(spec);
  ASSERT_TRUE(Reaches(id, State::kExited));
  EXPECT_EQ(Look(id).exit_code, 7);
  const auto all = runtime().Logs(id, 100);
  ASSERT_OK(all);
  for (const char* line : {"first\n", "second\n", "third\n"}) EXPECT_NE(all->find(line), std::string::npos) << *all;
  EXPECT_EQ(all->size(), std::string("first\nsecond\nthird\n").size()) << "no frame bytes are left";
  const auto last = runtime().Logs(id, 1);
  ASSERT_OK(last);
  // Two streams have no common order; one whole line it is.
  EXPECT_EQ(std::count(last->begin(), last->end(), 10), 1) << *last;
}

TEST_P(DockerEngineTest, SandboxesAreMadeInParallelThroughOneClient) {
  std::vector<std::future<Result<>>> starts;
  for (int i = 0; i < 4; ++i) {
    starts.push_back(std::async(std::launch::async, [this, i]() -> Result<> {
      BEIGE_ASSIGN(const std::string id, runtime().Create(Spec("p" + std::to_string(i))));
      return runtime().Start(id);
    }));
  }
  for (auto& start : starts) ASSERT_OK(start.get());
  const auto list = runtime().List(home_);
  ASSERT_OK(list);
  EXPECT_EQ(list->size(), 4u);
}

TEST_P(DockerEngineTest, CreateWaitsForANameWhoseHolderIsBeingRemoved) {
  const SandboxSpec spec = Spec();
  for (int round = 0; round < 3; ++round) {
    const std::string old = Start(spec);
    auto removing = std::async(std::launch::async, [&] { return runtime().Remove(old); });
    // Until the engine has begun to remove it, the name is rightly a conflict.
    std::string next;
    ASSERT_TRUE(Eventually([&] {
      const auto made = runtime().Create(spec);
      if (made) next = *made;
      EXPECT_TRUE(made || made.error().code == Code::kConflict) << made.error().message;
      return made.has_value();
    }));
    ASSERT_OK(removing.get());
    EXPECT_EQ(Look(next).state, State::kCreated);
    ASSERT_OK(runtime().Remove(next));
  }
}

TEST_P(DockerEngineTest, RemoveTwiceAtOnceSucceedsTwice) {
  const std::string id = Start(Spec());
  auto first = std::async(std::launch::async, [&] { return runtime().Remove(id); });
  auto second = std::async(std::launch::async, [&] { return runtime().Remove(id); });
  ASSERT_OK(first.get());
  ASSERT_OK(second.get());
  EXPECT_EQ(*runtime().Observe(id), std::nullopt);
}

TEST_P(DockerEngineTest, EveryDescriptorOfTheClientIsClosedOnExec) {
  ASSERT_OK(runtime().List(home_));
  const auto subscription = runtime().Subscribe(home_, nullptr, nullptr);
  Start(Spec());
  const auto names = ListDir("/proc/self/fd");
  ASSERT_OK(names);
  int seen = 0;
  for (const std::string& name : *names) {
    const int fd = std::stoi(name);
    const int flags = fcntl(fd, F_GETFD);
    if (fd <= 2 || flags < 0) continue;
    char target[256] = {};
    const ssize_t n = readlink(("/proc/self/fd/" + name).c_str(), target, sizeof target - 1);
    if (n < 0 || !std::string(target).starts_with("socket:")) continue;  // what the test's caller left open is not ours
    ++seen;
    EXPECT_NE(flags & FD_CLOEXEC, 0) << name << " " << target;
  }
  EXPECT_GE(seen, 2);
}

INSTANTIATE_TEST_SUITE_P(Docker, DockerEngineTest, ::testing::Values(BackendKind{"docker", MakeDockerBackend}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace beige::runtime
