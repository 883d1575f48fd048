#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core.h"
#include "text.h"

static char temporary[4096 + 64];

/* The deadline came, or the call was taken back. */
static void OnTerm(int number) {
  if (temporary[0] != '\0') unlink(temporary);
  _exit(128 + number);
}

static bool MakeParents(char *target) {
  for (char *at = target + 1; (at = strchr(at, '/')) != NULL; at++) {
    *at = '\0';
    bool made = mkdir(target, 0777) == 0 || errno == EEXIST || errno == EROFS || errno == EACCES; /* then what follows says so */
    *at = '/';
    if (!made) return false;
  }
  return true;
}

/* A new file beside `target`, never one that somebody has put there. */
static int OpenBeside(const char *target, mode_t mode) {
  const char *slash = strrchr(target, '/');
  size_t keep = slash == NULL ? 0 : (size_t)(slash - target) + 1;
  char pid[24], time[24];
  for (int tries = 0; tries < 100; tries++) {
    memcpy(temporary, target, keep);
    Join(temporary + keep, sizeof temporary - keep, ".beige-", Decimal(pid, getpid()), "-", Decimal(time, NowMs() + tries), ".tmp", NULL);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

static int WriteInto(const char *path, const char *target, const void *bytes, size_t size) {
  struct stat status;
  int fd = open(target, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  if (fd < 0 || fstat(fd, &status) != 0) return CoreFail(path, strerror(errno), NULL);
  if (!S_ISREG(status.st_mode)) return CoreFail(path, "is ", CoreKind(status.st_mode), ", not a file", NULL);
  if (ftruncate(fd, 0) != 0 || !CoreWriteAll(fd, bytes, size) || close(fd) != 0) return CoreFail(path, strerror(errno), NULL);
  return 0;
}

static bool IsSame(const char *target, const struct stat *seen) {
  struct stat now;
  return lstat(target, &now) == 0 && now.st_dev == seen->st_dev && now.st_ino == seen->st_ino && now.st_size == seen->st_size &&
         now.st_mtim.tv_sec == seen->st_mtim.tv_sec && now.st_mtim.tv_nsec == seen->st_mtim.tv_nsec;
}

int CoreReplace(const char *path, const char *target, const struct stat *seen, mode_t mode, const void *bytes, size_t size) {
  struct sigaction action = {.sa_handler = OnTerm};
  sigaction(SIGTERM, &action, NULL);
  int fd = OpenBeside(target, seen != NULL ? 0600 : mode);
  if (fd < 0) {
    temporary[0] = '\0';
    if (seen != NULL && (errno == EACCES || errno == EROFS || errno == EPERM)) return WriteInto(path, target, bytes, size);
    return CoreFail(path, strerror(errno), NULL);
  }
  int error = 0;
  if (!CoreWriteAll(fd, bytes, size) || (seen != NULL && fchmod(fd, mode) != 0)) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  bool changed = error == 0 && seen != NULL && !IsSame(target, seen);
  if (error == 0 && !changed && rename(temporary, target) != 0) error = errno;
  if (error != 0 || changed) unlink(temporary);
  temporary[0] = '\0';
  if (changed) return CoreFail(path, "was changed by somebody else at the same time; nothing was written; read it again", NULL);
  if (error == EBUSY && seen != NULL) return WriteInto(path, target, bytes, size); /* mounted by itself */
  return error == 0 ? 0 : CoreFail(path, strerror(error), NULL);
}

/* Exactly `size` bytes of stdin and no more; NULL after saying why not. */
static uint8_t *Input(const char *path, size_t size) {
  uint8_t *bytes = CoreMemory(size + 1);
  if (bytes == NULL) return CoreFail(path, "not enough memory", NULL), NULL;
  if (CoreReadAll(0, bytes, size + 1) != (int64_t)size) return CoreFail(path, "the text came cut; nothing was written", NULL), NULL;
  return bytes;
}

int CoreWrite(const char *path, const char *bytes) {
  static char target[4096];
  struct stat status;
  int64_t size = ParseDecimal(bytes, kCoreFile);
  if (size < 0) return CoreFail(path, "the content is longer than 10 MiB", NULL);
  uint8_t *content = Input(path, (size_t)size);
  if (content == NULL) return 1;
  if (!CoreTarget(path, target)) return CoreFail(path, strerror(errno), NULL);
  if (lstat(target, &status) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return CoreFail(path, strerror(errno), NULL);
    if (!MakeParents(target)) return CoreFail(path, "can't make its directory: ", strerror(errno), NULL);
    int failed = CoreReplace(path, target, NULL, 0666, content, (size_t)size);
    return failed ? failed : !CoreWriteAll(1, "created\n", 8);
  }
  if (!S_ISREG(status.st_mode)) return CoreFail(path, "is ", CoreKind(status.st_mode), ", not a file", NULL);
  uint8_t *old = NULL;
  int64_t old_size = 0;
  int fd = open(target, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  if (fd >= 0) {
    CoreLock(fd);
    old = status.st_size <= kCoreOld ? CoreMemory(kCoreOld + 1) : NULL;
    if (old != NULL) old_size = CoreReadAll(fd, old, kCoreOld + 1);
    if (old_size < 0 || old_size > kCoreOld) old_size = 0;
    if (lstat(target, &status) != 0 || !S_ISREG(status.st_mode)) return CoreFail(path, "was changed by somebody else at the same time; nothing was written", NULL);
  }
  int failed = CoreReplace(path, target, &status, status.st_mode & 0777, content, (size_t)size);
  if (failed) return failed;
  char line[64], digits[24];
  size_t length = Join(line, sizeof line, "replaced ", Decimal(digits, status.st_size), "\n", NULL);
  return CoreWriteAll(1, line, length) && CoreWriteAll(1, old, (size_t)old_size) ? 0 : 1;
}
