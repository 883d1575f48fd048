#include "gateway/audit/rotation.h"

#include <sys/stat.h>

#include "base/files.h"
#include "base/log.h"

namespace beige::audit {
namespace {
constexpr std::string_view kSuffix = ".jsonl";

std::string Compact(std::string_view time) {
  std::string stamp;
  for (const char c : time) {
    if (c != '-' && c != ':') stamp += c;
  }
  return stamp;
}

std::string StemOf(const std::string& path) {
  return path.ends_with(kSuffix) ? path.substr(0, path.size() - kSuffix.size()) : path;
}
}  // namespace

std::string RotatedName(const std::string& path, std::string_view time) { return StemOf(path) + "-" + Compact(time) + std::string(kSuffix); }

std::vector<std::string> RotatedFiles(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash);
  const std::string stem = StemOf(path.substr(slash == std::string::npos ? 0 : slash + 1)) + "-";
  std::vector<std::string> out;
  for (const std::string& name : ListDir(directory).value_or(std::vector<std::string>())) {
    if (name.starts_with(stem) && name.ends_with(kSuffix)) out.push_back(JoinPath(directory, name));
  }
  return out;
}

std::vector<std::string> RemoveOld(const std::string& path, SystemTime now, std::chrono::nanoseconds keep) {
  const SystemTime limit = now - std::chrono::duration_cast<SystemTime::duration>(keep);
  const std::string oldest = RotatedName(path, FormatTime(limit));
  std::vector<std::string> gone;
  for (const std::string& file : RotatedFiles(path)) {
    struct stat info {};
    if (file >= oldest || ::stat(file.c_str(), &info) != 0) continue;
    if (std::chrono::system_clock::from_time_t(info.st_mtim.tv_sec) >= limit) continue;
    if (auto removed = RemoveFile(file); !removed) {
      LogWarn("audit: an old file can't be removed", {{"path", file}, {"error", removed.error().message}});
      continue;
    }
    gone.push_back(file.substr(file.rfind('/') + 1));
  }
  return gone;
}

}  // namespace beige::audit
