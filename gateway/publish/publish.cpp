#include "gateway/publish/publish.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "base/files.h"
#include "gateway/publish/entries.h"
#include "gateway/publish/readme.h"
#include "gateway/publish/skill_copy.h"

namespace beige {
namespace {
constexpr const char* kLauncherTarget = "/beige/bin/beige-sandbox";

// The rest is still done when one entry fails; the first error is what the caller hears.
class FirstError {
 public:
  void Note(const Result<>& result) {
    if (!result && first_) first_ = result;
  }
  Result<> Take() { return std::move(first_); }

 private:
  Result<> first_;
};

Result<> PutLauncher(const Entries& bin, const std::string& name) {
  char target[256];
  const ssize_t n = ::readlink(bin.PathOf(name).c_str(), target, sizeof target);
  if (n > 0 && std::string_view(target, static_cast<size_t>(n)) == kLauncherTarget) return {};
  const std::string staged = bin.NewStagePath();
  if (::symlink(kLauncherTarget, staged.c_str()) != 0) return FailErrno(errno, "make launcher " + name);
  return bin.Put(name, staged);
}

Result<> PutDocs(const Entries& packages, const ToolManifest& tool) {
  const std::string text = ToolReadme(tool);
  const auto former = ReadFileIfExists(packages.PathOf(tool.name) + "/README.md");
  if (former && *former == text) return {};
  const std::string staged = packages.NewStagePath();
  BEIGE_TRY(MakeDirs(staged, 0755));
  BEIGE_TRY(WriteFileAtomic(staged + "/README.md", text, 0644));
  return packages.Put(tool.name, staged);
}

Result<> PutSkill(const Entries& skills, const std::string& marks, const std::string& name, const std::string& source) {
  const auto fingerprint = SkillFingerprint(source);
  if (!fingerprint) return tl::make_unexpected(fingerprint.error());
  const std::string mark = JoinPath(marks, name);
  const auto former = ReadFileIfExists(mark);
  if (former && *former == *fingerprint && Exists(skills.PathOf(name))) return {};
  BEIGE_TRY(RemoveFile(mark));  // a crash from here on means: copy again
  const std::string staged = skills.NewStagePath();
  if (auto copied = CopySkill(source, staged); !copied) {
    (void)RemoveTree(staged);
    return copied;
  }
  BEIGE_TRY(skills.Put(name, staged));
  return WriteFileAtomic(mark, *fingerprint, 0600);
}
}  // namespace

Result<std::map<std::string, std::string>> PublishTree(const HomePaths& paths, const std::string& uid, const PublishedTree& tree) {
  const std::string stage = paths.Tree(uid) + "/stage";
  const std::string marks = paths.Tree(uid) + "/marks";
  // Whatever a crash left half built.
  BEIGE_TRY(RemoveTree(stage));
  BEIGE_ASSIGN(const Entries bin, Entries::Open(paths.LaunchersDir(uid), stage));
  BEIGE_ASSIGN(const Entries packages, Entries::Open(paths.PackagesDir(uid), stage));
  BEIGE_ASSIGN(const Entries skills, Entries::Open(paths.SkillsDir(uid), stage));
  BEIGE_TRY(MakeDirs(marks, 0700));

  FirstError error;
  std::set<std::string> tool_names;
  for (const auto& tool : tree.tools) {
    if (!IsEntryName(tool->name)) {
      error.Note(Fail(Code::kInvalid, "tool name \"" + tool->name + "\" can't be a file name"));
      continue;
    }
    tool_names.insert(tool->name);
    error.Note(PutLauncher(bin, tool->name));
    error.Note(PutDocs(packages, *tool));
  }
  std::set<std::string> skill_names;
  std::map<std::string, std::string> failed;
  for (const auto& [name, source] : tree.skills) {
    const auto put = IsEntryName(name) ? PutSkill(skills, marks, name, source) : Fail(Code::kInvalid, "its name can't be a file name");
    if (put) {
      skill_names.insert(name);
    } else {
      failed[name] = put.error().message;
    }
  }
  error.Note(bin.RemoveAllBut(tool_names));
  error.Note(packages.RemoveAllBut(tool_names));
  error.Note(skills.RemoveAllBut(skill_names));
  BEIGE_TRY(error.Take());
  return failed;
}

Result<> RemoveTreeOf(const HomePaths& paths, const std::string& uid) { return RemoveTree(paths.Tree(uid)); }

}  // namespace beige
