#ifndef BEIGE_BASE_FILES_H_
#define BEIGE_BASE_FILES_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace beige {

// Temp file in the same directory, fsync, rename, fsync of the directory: after a crash the old or the new content is there, whole.
Result<> WriteFileAtomic(const std::string& path, std::string_view content, mode_t mode);

// Whole file, at most `limit` bytes (Invalid beyond). NotFound if absent.
Result<std::string> ReadFile(const std::string& path, size_t limit = 16u << 20);
// Absence is a value.
Result<std::optional<std::string>> ReadFileIfExists(const std::string& path, size_t limit = 16u << 20);

// mkdir -p; directories that it makes get `mode` exactly, whatever the umask says.
Result<> MakeDirs(const std::string& path, mode_t mode);
// Whole content of a regular file (links are followed), for paths that somebody else may have made: never waits for a FIFO or a device that
// has the name. Invalid for anything but a regular file, and beyond `limit` bytes; NotFound, Denied as the kernel says.
Result<std::string> ReadRegular(const std::string& path, size_t limit);
Result<> RemoveFile(const std::string& path);  // absent is success
// Never follows links; absent is success. Directories without rights for their owner, and ones of any depth, go as well; what can't be
// removed is the first error, and the rest is gone.
Result<> RemoveTree(const std::string& path);
Result<std::vector<std::string>> ListDir(const std::string& path);  // names, sorted, without . and ..
bool Exists(const std::string& path);

std::string JoinPath(std::string_view directory, std::string_view name);
// `path` as an absolute, lexically normal path, relative ones taken from `directory`.
std::string AbsolutePath(std::string_view directory, std::string_view path);
std::string ExecutableDir();  // directory of the running program

}  // namespace beige

#endif
