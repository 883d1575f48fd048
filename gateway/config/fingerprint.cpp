#include "gateway/config/fingerprint.h"

#include <filesystem>

#include "base/file_stamp.h"
#include "base/files.h"

namespace beige {
namespace {
std::string ParentOf(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

void AddFile(WatchedFiles& watched, const std::string& file) {
  watched.files.insert(file);
  watched.directories.insert(ParentOf(file));
  // A file that is a link changes where it leads, too (the links of a mounted ConfigMap).
  std::error_code ec;
  const std::string real = std::filesystem::canonical(file, ec).string();
  if (!ec && real != file) watched.directories.insert(ParentOf(real));
}
}  // namespace

WatchedFiles FilesOf(const HomePaths& paths, const ConfigSet& set, const std::set<std::string>& also) {
  WatchedFiles watched;
  AddFile(watched, paths.GatewayYaml());
  for (const std::string& file : also) AddFile(watched, file);
  for (const auto& [name, tool] : set.config->tools) AddFile(watched, JoinPath(tool.path, "tool.yaml"));
  for (const auto& [name, skill] : set.config->skills) {
    AddFile(watched, JoinPath(skill.path, "SKILL.md"));
    watched.files.insert(skill.path);
  }
  for (const std::string& file : set.config->llm.files) AddFile(watched, file);
  for (const auto& token : set.config->tokens) AddFile(watched, token.file);
  return watched;
}

std::string FingerprintOf(const WatchedFiles& watched) {
  std::string all;
  for (const std::string& file : watched.files) {
    const FileStamp stamp = StampOf(file);
    all += file;
    if (stamp.size < 0) {
      all += " absent\n";
      continue;
    }
    for (const auto number : {static_cast<int64_t>(stamp.device), static_cast<int64_t>(stamp.inode), stamp.size, stamp.mtime_ns, stamp.ctime_ns}) {
      all += " " + std::to_string(number);
    }
    all += "\n";
  }
  return all;
}

}  // namespace beige
