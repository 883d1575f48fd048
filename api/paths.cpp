#include "api/paths.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "base/files.h"
#include "base/random.h"

namespace beige {
namespace {

std::string WorkingDirectory() {
  std::string buffer(4096, '\0');
  if (::getcwd(buffer.data(), buffer.size()) == nullptr) return "/";
  return buffer.c_str();
}

std::string UserHome() {
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return home;
  passwd entry{};
  passwd* found = nullptr;
  std::string buffer(16384, '\0');
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) return found->pw_dir;
  return "/";
}

}  // namespace

std::string HomePaths::Id(const std::string& uid) { return ShortId(uid, 10); }

std::string DefaultHome() {
  const char* chosen = std::getenv("BEIGE_HOME");
  const std::string home = chosen != nullptr && *chosen != '\0' ? chosen : UserHome() + "/.beige";
  return AbsolutePath(WorkingDirectory(), home);
}

}  // namespace beige
