#include "gateway/config/fingerprint.h"

#include <sys/stat.h>

#include <filesystem>

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
    struct stat st {};
    all += file;
    if (::stat(file.c_str(), &st) != 0) {
      all += " absent\n";
      continue;
    }
    for (const auto v : {static_cast<int64_t>(st.st_dev), static_cast<int64_t>(st.st_ino), static_cast<int64_t>(st.st_size),
                         static_cast<int64_t>(st.st_mtim.tv_sec), static_cast<int64_t>(st.st_mtim.tv_nsec),
                         static_cast<int64_t>(st.st_ctim.tv_sec), static_cast<int64_t>(st.st_ctim.tv_nsec)}) {
      all += " " + std::to_string(v);
    }
    all += "\n";
  }
  return all;
}

}  // namespace beige
