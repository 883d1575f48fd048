#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/file_stamp.h"
#include "base/random.h"
#include "base/unique_fd.h"

namespace beige {
namespace fs = std::filesystem;

namespace {
Result<> WriteAll(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return FailErrno(errno, "write " + path);
    }
    content.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Result<std::string> ReadAll(const UniqueFd& fd, const std::string& path, size_t limit) {
  std::string content;
  char chunk[65536];
  for (;;) {
    const ssize_t n = ::read(fd.get(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "read " + path);
    if (n == 0) return content;
    content.append(chunk, static_cast<size_t>(n));
    if (content.size() > limit) {
      return Fail(Code::kInvalid, path + ": larger than the limit of " + std::to_string(limit) + " bytes");
    }
  }
}

tl::unexpected<Error> FailFs(const std::error_code& ec, std::string_view doing) { return FailErrno(ec.value(), doing); }
}  // namespace

Result<> WriteFileAtomic(const std::string& path, std::string_view content, mode_t mode) {
  const std::string directory = fs::path(path).parent_path().string();
  const std::string temp = JoinPath(directory, "." + fs::path(path).filename().string() + "." + HexEncode(RandomBytes(4)) + ".tmp");
  {
    UniqueFd fd(::open(temp.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
    if (!fd) return FailErrno(errno, "create " + temp);
    Result<> written = WriteAll(fd.get(), content, temp);
    if (written && ::fchmod(fd.get(), mode) != 0) written = FailErrno(errno, "chmod " + temp);
    if (written && ::fsync(fd.get()) != 0) written = FailErrno(errno, "fsync " + temp);
    if (!written) {
      ::unlink(temp.c_str());
      return written;
    }
  }
  if (::rename(temp.c_str(), path.c_str()) != 0) {
    const int err = errno;
    ::unlink(temp.c_str());
    return FailErrno(err, "rename to " + path);
  }
  UniqueFd dir(::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir || ::fsync(dir.get()) != 0) return FailErrno(errno, "fsync directory of " + path);
  return {};
}

Result<std::string> ReadFile(const std::string& path, size_t limit) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return FailErrno(errno, "open " + path);
  return ReadAll(fd, path, limit);
}

Result<std::optional<std::string>> ReadFileIfExists(const std::string& path, size_t limit) {
  auto content = ReadFile(path, limit);
  if (content) return std::optional<std::string>(std::move(*content));
  if (content.error().code == Code::kNotFound) return std::optional<std::string>();
  return tl::make_unexpected(content.error());
}

Result<> MakeDirs(const std::string& path, mode_t mode) {
  if (path.empty() || Exists(path)) return {};
  BEIGE_TRY(MakeDirs(fs::path(path).parent_path().string(), mode));
  if (::mkdir(path.c_str(), mode) != 0) {
    if (errno == EEXIST) return {};
    return FailErrno(errno, "mkdir " + path);
  }
  if (::chmod(path.c_str(), mode) != 0) return FailErrno(errno, "chmod " + path);
  return {};
}

Result<> RemoveFile(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return FailErrno(errno, "remove " + path);
  return {};
}

Result<std::vector<std::string>> ListDir(const std::string& path) {
  std::error_code ec;
  std::vector<std::string> names;
  fs::directory_iterator it(path, ec);
  for (; !ec && it != fs::directory_iterator(); it.increment(ec)) names.push_back(it->path().filename().string());
  if (ec) return FailFs(ec, "list " + path);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> ReadRegular(const std::string& path, size_t limit) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return FailErrno(errno, "open " + path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return FailErrno(errno, "stat " + path);
  if (!S_ISREG(info.st_mode)) return Fail(Code::kInvalid, path + ": want a regular file");
  return ReadAll(fd, path, limit);
}

FileStamp StampOf(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) return {};
  const auto nanos = [](const timespec& t) { return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec; };
  return {st.st_dev, st.st_ino, st.st_size, nanos(st.st_mtim), nanos(st.st_ctim)};
}

bool Exists(const std::string& path) {
  struct stat st {};
  return ::lstat(path.c_str(), &st) == 0;
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  if (directory.empty()) return std::string(name);
  std::string path(directory);
  if (path.back() != '/') path += '/';
  return path += name;
}

std::string AbsolutePath(std::string_view directory, std::string_view path) {
  fs::path p(path);
  if (!p.is_absolute()) p = fs::path(directory) / p;
  std::error_code ec;
  const fs::path absolute = fs::absolute(p, ec);
  std::string normal = (ec ? p : absolute).lexically_normal().string();
  if (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

std::string ExecutableDir() {
  std::error_code ec;
  return fs::read_symlink("/proc/self/exe", ec).parent_path().string();
}

}  // namespace beige
