#include "operator/reconcile/publish.h"

#include <cerrno>
#include <cstdio>

#include "base/files.h"
#include "base/random.h"

namespace beige {
namespace {
constexpr size_t kMaxBinary = 64u << 20;

// Beside the directory: the binary itself can't be read by a plain user (0111), and nothing of ours is shown in the sandbox for nothing.
std::string DigestFile(const std::string& directory) { return directory + ".sha256"; }

Result<bool> IsPublished(const std::string& directory, const std::string& digest) {
  if (!Exists(directory + "/beige-sandbox")) return false;
  BEIGE_ASSIGN(const auto stored, ReadFileIfExists(DigestFile(directory)));
  return stored && *stored == digest + "\n";
}
}  // namespace

Result<std::string> PublishSandboxBinary(const HomePaths& paths, const std::string& version, const std::string& binary) {
  auto content = ReadFile(binary, kMaxBinary);
  if (!content) return FailIn("the program for inside sandboxes, which lies beside beige-operator, can't be read", content.error());
  const std::string digest = Sha256Hex(*content);
  std::string directory = paths.BinDir(version);
  BEIGE_ASSIGN(bool published, IsPublished(directory, digest));
  if (published) return directory;
  if (Exists(directory)) {
    directory += "-" + digest.substr(0, 12);
    BEIGE_ASSIGN(published, IsPublished(directory, digest));
    if (published) return directory;
  }
  const std::string temp = paths.home() + "/bin/.new-" + HexEncode(RandomBytes(4));
  BEIGE_TRY(MakeDirs(temp, 0755));
  BEIGE_TRY(WriteFileAtomic(temp + "/beige-sandbox", *content, 0111));
  BEIGE_TRY(WriteFileAtomic(DigestFile(directory), digest + "\n", 0644));
  if (std::rename(temp.c_str(), directory.c_str()) != 0) {
    const int err = errno;
    (void)RemoveTree(temp);
    return FailErrno(err, "rename to " + directory);
  }
  return directory;
}

}  // namespace beige
