#include "base/user_namespace.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include "base/files.h"
#include "base/unique_fd.h"

namespace beige {
namespace {
constexpr uint64_t kSetGid = uint64_t{1} << 6;
constexpr uint64_t kSetUid = uint64_t{1} << 7;

bool HasCapabilities(uint64_t wanted) {
  const auto status = ReadFile("/proc/self/status", 1u << 16);
  if (!status) return false;
  const size_t at = status->find("\nCapEff:\t");
  return at != std::string::npos && (std::strtoull(status->c_str() + at + 9, nullptr, 16) & wanted) == wanted;
}

bool Covers(const char* map, const IdRange& range) {
  std::istringstream lines(ReadFile(map, 1u << 16).value_or(""));
  uint64_t inside = 0;
  uint64_t outside = 0;
  uint64_t count = 0;
  while (lines >> inside >> outside >> count) {
    if (range.first >= inside && uint64_t{range.first} + range.count <= inside + count) return true;
  }
  return false;
}

// The kernel takes a map in one write only.
Result<> WriteWhole(const std::string& path, const std::string& text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return FailErrno(errno, path);
  return {};
}

std::string Text(const std::vector<IdMap>& maps) {
  std::string text;
  for (const auto& map : maps) text += std::to_string(map.inside) + " " + std::to_string(map.outside) + " " + std::to_string(map.count) + "\n";
  return text;
}
}  // namespace

bool CanMapIds(const IdRange& range) {
  return HasCapabilities(kSetUid | kSetGid) && Covers("/proc/self/uid_map", range) && Covers("/proc/self/gid_map", range);
}

std::optional<pid_t> ChildPidOf(std::string_view text) {
  constexpr std::string_view kKey = "\"child-pid\":";
  size_t at = text.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  at = text.find_first_not_of(' ', at + kKey.size());
  if (at == std::string_view::npos) return std::nullopt;
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), pid);
  // A number that something follows is whole.
  if (error != std::errc() || pid <= 0 || end == text.data() + text.size()) return std::nullopt;
  return pid;
}

Result<> WriteIdMaps(pid_t child, const std::vector<IdMap>& uids, const std::vector<IdMap>& gids) {
  const std::string directory = "/proc/" + std::to_string(child);
  BEIGE_TRY(WriteWhole(directory + "/uid_map", Text(uids)));
  return WriteWhole(directory + "/gid_map", Text(gids));
}

bool MayBeRootOutside(uid_t uid) {
  const std::string unknown = ReadFile("/proc/sys/kernel/overflowuid", 64).value_or("65534\n");
  if (std::to_string(uid) + "\n" != unknown) return false;
  std::istringstream lines(ReadFile("/proc/self/uid_map", 1u << 16).value_or(""));
  uint64_t inside = 0;
  uint64_t outside = 0;
  uint64_t count = 0;
  bool other = false;
  while (lines >> inside >> outside >> count) {
    if (outside == 0) return false;
    other = other || inside == 0;
  }
  return other;
}

}  // namespace beige
