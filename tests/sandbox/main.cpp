// Usage: sandbox_test BEIGE_SANDBOX ATTACKER [--plain-user] [gtest flags]. With --plain-user, root becomes uid 65534 first: sandboxes and
// cells must work for a user without any right, too.
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "cage.h"

namespace {

constexpr uid_t kNobody = 65534;

// The build tree may be closed to others, so the programs move to where they can be read.
bool BecomePlainUser(std::string* keep) {
  auto& programs = beige::sandbox_test::ThePrograms();
  *keep = "/tmp/beige-programs-XXXXXX";
  if (mkdtemp(keep->data()) == nullptr || chmod(keep->c_str(), 0755) != 0) return false;
  for (std::string* program : {&programs.sandbox, &programs.attacker}) {
    const std::string copy = *keep + "/" + std::filesystem::path(*program).filename().string();
    std::filesystem::copy_file(*program, copy);
    chmod(copy.c_str(), 0755);
    *program = copy;
  }
  if (chown(keep->c_str(), kNobody, kNobody) != 0) return false;
  return setgroups(0, nullptr) == 0 && setresgid(kNobody, kNobody, kNobody) == 0 && setresuid(kNobody, kNobody, kNobody) == 0 &&
         chdir("/") == 0;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s BEIGE_SANDBOX ATTACKER [--plain-user]\n", argv[0]);
    return 2;
  }
  beige::sandbox_test::ThePrograms() = {argv[1], argv[2]};
  std::string keep;
  if (argc > 3 && std::strcmp(argv[3], "--plain-user") == 0 && geteuid() == 0 && !BecomePlainUser(&keep)) {
    std::perror("--plain-user");
    return 2;
  }
  const int status = RUN_ALL_TESTS();
  if (!keep.empty()) std::filesystem::remove_all(keep);
  return status;
}
