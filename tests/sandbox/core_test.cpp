// The file tools of the agent's model: the real program on a directory of the test, without a sandbox around it. What others plant there may
// not hold it up or lead it astray.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cage.h"

namespace beige::sandbox_test {
namespace {
namespace fs = std::filesystem;

struct Answer {
  int status = -1;
  std::string out, err;
};

class CoreTest : public testing::Test {
 protected:
  CoreTest() {
    std::string pattern = "/tmp/beige-core-XXXXXX";
    dir_ = ::mkdtemp(pattern.data());
    fs::create_directory(dir_ + "/w");
  }
  ~CoreTest() override { fs::remove_all(dir_); }

  std::string At(const std::string& name) const { return dir_ + "/w/" + name; }
  void Put(const std::string& name, const std::string& text) const { std::ofstream(At(name), std::ios::binary) << text; }
  std::string Content(const std::string& name) const { return Slurp(At(name)); }
  static std::string Slurp(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  // Input and output are files, so that nothing waits for us.
  pid_t Start(std::vector<std::string> words, const std::string& input) {
    std::ofstream(dir_ + "/in", std::ios::binary) << input;
    words.insert(words.begin(), {"beige-sandbox", "core"});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, (dir_ + "/w").c_str());
    posix_spawn_file_actions_addopen(&actions, 0, (dir_ + "/in").c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, (dir_ + "/out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, (dir_ + "/err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t pid = 0;
    EXPECT_EQ(::posix_spawn(&pid, ThePrograms().sandbox.c_str(), &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
  }
  Answer Run(std::vector<std::string> words, const std::string& input = "") {
    Answer answer;
    int status = 0;
    ::waitpid(Start(std::move(words), input), &status, 0);
    answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    answer.out = Slurp(dir_ + "/out");
    answer.err = Slurp(dir_ + "/err");
    return answer;
  }
  Answer Read(const std::string& path, int64_t offset = 1, int64_t limit = 2000) { return Run({"read", path, std::to_string(offset), std::to_string(limit)}); }
  Answer Write(const std::string& path, const std::string& text) { return Run({"write", path, std::to_string(text.size())}, text); }
  Answer Patch(const std::string& path, const std::string& before, const std::string& after) {
    return Run({"patch", path, std::to_string(before.size()), std::to_string(after.size())}, before + after);
  }
  mode_t ModeOf(const std::string& name) const {
    struct stat status {};
    ::lstat(At(name).c_str(), &status);
    return status.st_mode & 07777;
  }
  size_t Files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(dir_ + "/w"), fs::directory_iterator())); }

  std::string dir_;
};

TEST_F(CoreTest, ReadsLinesFromAnOffset) {
  Put("f", "one\ntwo\nthree\nfour");
  EXPECT_EQ(Read("f").out, "text 1 4 4 0\none\ntwo\nthree\nfour");
  EXPECT_EQ(Read("f", 2, 2).out, "text 2 2 4 0\ntwo\nthree\n");
  EXPECT_EQ(Read("f", 4).out, "text 4 1 4 0\nfour");
  EXPECT_EQ(Read("f", 5).out, "text 5 0 4 0\n");
  Put("empty", "");
  EXPECT_EQ(Read("empty").out, "text 1 0 0 0\n");
  Put("newline", "\n");
  EXPECT_EQ(Read("newline").out, "text 1 1 1 0\n\n");
  EXPECT_EQ(Read(At("f"), 3, 1).out, "text 3 1 4 0\nthree\n");
}

TEST_F(CoreTest, ATextIsCappedAtWholeLines) {
  std::string text;
  for (int i = 0; i < 30000; ++i) text += "line " + std::to_string(i) + "\n";
  Put("f", text);
  const std::string out = Read("f", 1, 100000).out;
  const size_t first = out.find('\n') + 1;
  EXPECT_LE(out.size() - first, 50u * 1024);
  EXPECT_GT(out.size() - first, 50u * 1024 - 20);
  EXPECT_EQ(out.back(), '\n');
  EXPECT_EQ(text.compare(0, out.size() - first, out, first), 0);
  EXPECT_NE(out.find(" 30000 0\n"), std::string::npos);
  // From where it ended it goes on without a gap.
  const auto count = std::count(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), '\n');
  EXPECT_NE(Read("f", count + 1, 1).out.find("\nline " + std::to_string(count) + "\n"), std::string::npos);
}

TEST_F(CoreTest, OneLineThatIsTooLongIsCutAndSaid) {
  Put("f", "a\n" + std::string(200000, 'x') + "\nb\n");
  EXPECT_EQ(Read("f").out, "text 1 1 3 0\na\n");
  const std::string out = Read("f", 2).out;
  EXPECT_EQ(out.substr(0, 13), "text 2 1 3 1\n");
  EXPECT_EQ(out.size(), 13 + 50u * 1024);
  EXPECT_EQ(Read("f", 3).out, "text 3 1 3 0\nb\n");
}

TEST_F(CoreTest, ImagesComeWholeAndBinaryFilesAreRefused) {
  const std::string rest(100000, '\0');
  const std::pair<const char*, std::string> images[] = {{"image/png", "\x89PNG\r\n\x1a\n"}, {"image/jpeg", "\xff\xd8\xff\xe0"}, {"image/gif", "GIF89a"}, {"image/webp", "RIFF1234WEBP"}};
  for (const auto& [type, magic] : images) {
    Put("i", magic + rest);
    EXPECT_EQ(Read("i").out, "image " + std::string(type) + "\n" + magic + rest);
  }
  Put("big.png", "\x89PNG\r\n\x1a\n" + std::string(5 << 20, 'x'));
  EXPECT_EQ(Read("big.png").err, "big.png: is an image of more than 5 MiB; make it smaller to look at it\n");
  Put("b", std::string("\x7f" "ELF\0\0", 6));
  EXPECT_EQ(Read("b").err, "b: is a binary file; look at it with exec, for example with file, xxd or strings\n");
  EXPECT_EQ(Read("b").status, 1);
}

TEST_F(CoreTest, WhatIsNoFileIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(At("fifo").c_str(), 0666), 0);
  const int socket_fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  At("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  fs::create_symlink("/dev/zero", At("device"));
  fs::create_symlink("fifo", At("link"));
  fs::create_directory(At("dir"));
  const std::pair<const char*, const char*> kinds[] = {{"fifo", "a FIFO"}, {"socket", "a socket"}, {"device", "a device"}, {"link", "a FIFO"}, {"dir", "a directory"}};
  for (const auto& [name, kind] : kinds) {
    for (const Answer& answer : {Read(name), Write(name, "x"), Patch(name, "a", "b")}) {
      EXPECT_EQ(answer.status, 1) << name;
      EXPECT_EQ(answer.out, "");
      EXPECT_EQ(answer.err.find(std::string(name) + ": is " + kind + ", not a file"), 0u) << answer.err;
    }
  }
  EXPECT_EQ(Files(), 5u) << "and nothing is left behind";
  ::close(socket_fd);
  fs::create_symlink("b", At("a"));
  fs::create_symlink("a", At("b"));
  EXPECT_EQ(Write("a", "x").status, 1);
  EXPECT_NE(Read("none").err.find("No such file"), std::string::npos);
}

TEST_F(CoreTest, WritesWithTheDirectoriesOnTheWayAndKeepsTheMode) {
  EXPECT_EQ(Write("a/b/c.txt", "new").out, "created\n");
  EXPECT_EQ(Content("a/b/c.txt"), "new");
  Put("run.sh", "old");
  ::chmod(At("run.sh").c_str(), 0751);
  EXPECT_EQ(Write("run.sh", "newer\n").out, "replaced 3\nold");
  EXPECT_EQ(Content("run.sh"), "newer\n");
  EXPECT_EQ(ModeOf("run.sh"), 0751u);
  Put("large", std::string(100000, 'x'));
  EXPECT_EQ(Write("large", "").out, "replaced 100000\n");
  EXPECT_EQ(Content("large"), "");
  Put("plain", "x");
  EXPECT_EQ(Write("plain/below", "x").status, 1);
  EXPECT_EQ(Content("plain"), "x");
}

TEST_F(CoreTest, ThroughALinkTheTargetIsReplacedNotTheLink) {
  fs::create_directory(At("real"));
  Put("real/f", "old");
  fs::create_symlink("real/f", At("one"));
  fs::create_symlink(At("one"), At("two"));
  EXPECT_EQ(Write("two", "new").out, "replaced 3\nold");
  EXPECT_TRUE(fs::is_symlink(At("one")) && fs::is_symlink(At("two")));
  EXPECT_EQ(Content("real/f"), "new");
  EXPECT_EQ(Patch("two", "new", "newer").out, "patched 1 0 0\n");
  EXPECT_EQ(Content("real/f"), "newer");
  fs::create_symlink("real/later", At("dangling"));
  EXPECT_EQ(Write("dangling", "now").out, "created\n");
  EXPECT_EQ(Content("real/later"), "now");
}

TEST_F(CoreTest, AReaderSeesTheOldFileOrTheNewOne) {
  Put("f", "old");
  const int open_before = ::open(At("f").c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(Write("f", "replaced by another file").status, 0);
  char bytes[64];
  EXPECT_EQ(::read(open_before, bytes, sizeof bytes), 3);
  ::close(open_before);
  EXPECT_EQ(Files(), 1u);
}

TEST_F(CoreTest, TextThatComesCutChangesNothing) {
  Put("f", "old");
  EXPECT_EQ(Run({"write", "f", "10"}, "half").status, 1);
  EXPECT_EQ(Run({"write", "f", "2"}, "more than two").status, 1);
  EXPECT_EQ(Run({"patch", "f", "3", "3"}, "oldne").status, 1);
  EXPECT_EQ(Run({"write", "f", "99999999"}, "").status, 1);
  EXPECT_EQ(Run({"write", "new/f", "10"}, "half").status, 1);
  EXPECT_EQ(Content("f"), "old");
  EXPECT_EQ(Files(), 1u);
}

TEST_F(CoreTest, PatchesWhatStandsThereOnceAndNothingElse) {
  Put("f", "a.c\nabc\nend\n");
  EXPECT_EQ(Patch("f", "a.c", "X").out, "patched 1 0 0\n") << "no pattern";
  EXPECT_EQ(Content("f"), "X\nabc\nend\n");
  EXPECT_EQ(Patch("f", "bc\nen", "1\n2\n3").out, "patched 2 1 1\nad");
  EXPECT_EQ(Content("f"), "X\na1\n2\n3d\n");
  EXPECT_EQ(Patch("f", "nothing", "x").err, "f: oldText is not there; it must be the same to the last blank; read the file again\n");
  Put("twice", "aaa\n");
  EXPECT_EQ(Patch("twice", "aa", "b").err, "twice: oldText stands there 2 times; take more of the lines around it, so that it stands there once\n");
  Put("often", std::string(1000, 'x'));
  EXPECT_NE(Patch("often", "x", "y").err.find("100 times or more"), std::string::npos);
  Put("crlf", "one\r\ntwo\r\n");
  EXPECT_NE(Patch("crlf", "one\ntwo", "x").err.find("the file's lines end in \\r\\n (CRLF)"), std::string::npos);
  EXPECT_NE(Patch("f", "2\r\n3d", "x").err.find("the file's lines end in \\n (LF)"), std::string::npos);
  EXPECT_EQ(Content("crlf"), "one\r\ntwo\r\n");
  Put("large", std::string((10 << 20) + 1, 'x'));
  EXPECT_NE(Patch("large", "y", "z").err.find("longer than 10 MiB"), std::string::npos);
  EXPECT_EQ(Patch("none", "a", "b").status, 1);
}

TEST_F(CoreTest, AFileThatSomebodyHoldsLockedIsPatchedAllTheSame) {
  Put("f", "old");
  const int holder = ::open(At("f").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(holder, LOCK_EX), 0);
  EXPECT_EQ(Patch("f", "old", "new").status, 0);
  EXPECT_EQ(Content("f"), "new");
  ::close(holder);
}

TEST_F(CoreTest, AFileThatIsReplacedWhileItWaitsIsReadAnew) {
  Put("f", "old\n");
  const int holder = ::open(At("f").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(holder, LOCK_EX), 0);
  const pid_t pid = Start({"patch", "f", "3", "3"}, "newNEW");
  // It has the old file open by the time that it waits for the lock.
  const std::string descriptors = "/proc/" + std::to_string(pid) + "/fd";
  const auto has_it_open = [&] {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(descriptors, error)) {
      if (fs::read_symlink(entry.path(), error) == At("f")) return true;
    }
    return ::kill(pid, 0) != 0;
  };
  while (!has_it_open()) ::usleep(1000);
  Put("next", "new\n");
  fs::rename(At("next"), At("f"));
  ::close(holder);
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << Slurp(dir_ + "/err");
  EXPECT_EQ(Content("f"), "NEW\n");
}

}  // namespace
}  // namespace beige::sandbox_test
