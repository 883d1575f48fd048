#include "core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

int CoreFail(const char *path, const char *what, ...) {
  char line[2048];
  size_t length = Join(line, sizeof line - 1, path, ": ", what, NULL);
  va_list list;
  va_start(list, what);
  for (const char *more; (more = va_arg(list, const char *)) != NULL;) length += Join(line + length, sizeof line - 1 - length, more, NULL);
  va_end(list);
  line[length++] = '\n';
  (void)CoreWriteAll(2, line, length);
  return 1;
}

uint8_t *CoreMemory(size_t bytes) {
  void *memory = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

int64_t CoreReadAll(int fd, void *into, size_t size) {
  size_t got = 0;
  while (got < size) {
    ssize_t n = read(fd, (char *)into + got, size - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    got += (size_t)n;
  }
  return (int64_t)got;
}

bool CoreWriteAll(int fd, const void *bytes, size_t size) {
  const char *at = bytes;
  while (size > 0) {
    ssize_t n = write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    at += n;
    size -= (size_t)n;
  }
  return true;
}

const char *CoreKind(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "no file";
}

int CoreOpen(const char *path, struct stat *status) {
  /* Looked at before: opening a device can have effects, and opening a FIFO lets its writer go on. What is put there meanwhile is opened without
   * waiting, and refused. */
  if (stat(path, status) != 0) return CoreFail(path, strerror(errno), NULL), -1;
  int fd = -1;
  if (S_ISREG(status->st_mode)) {
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, status) != 0) return CoreFail(path, strerror(errno), NULL), -1;
  }
  if (S_ISREG(status->st_mode)) return fd;
  CoreFail(path, "is ", CoreKind(status->st_mode), S_ISDIR(status->st_mode) ? ", not a file; list it with ls" : ", not a file", NULL);
  return -1;
}

bool CoreTarget(const char *path, char target[4096]) {
  if (strlen(path) >= 4096) return errno = ENAMETOOLONG, false;
  strcpy(target, path);
  for (int hops = 0; hops < 40; hops++) {
    char link[4096];
    ssize_t length = readlink(target, link, sizeof link - 1);
    if (length < 0) return errno == EINVAL || errno == ENOENT || errno == ENOTDIR;
    link[length] = '\0';
    char *slash = strrchr(target, '/');
    size_t keep = link[0] == '/' || slash == NULL ? 0 : (size_t)(slash - target) + 1;
    if (keep + (size_t)length >= 4096) return errno = ENAMETOOLONG, false;
    strcpy(target + keep, link);
  }
  return errno = ELOOP, false;
}

void CoreLock(int fd) {
  /* Not for ever: whoever holds it may be anybody in the sandbox. */
  const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
  for (int64_t until = NowMs() + 2000; flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK && NowMs() < until;) nanosleep(&pause, NULL);
}

int CoreMain(int argc, char **argv) {
  const char *tool = argc > 0 ? argv[0] : "";
  if (strcmp(tool, "read") == 0 && argc == 4) return CoreRead(argv[1], argv[2], argv[3]);
  if (strcmp(tool, "write") == 0 && argc == 3) return CoreWrite(argv[1], argv[2]);
  if (strcmp(tool, "patch") == 0 && argc == 4) return CorePatch(argv[1], argv[2], argv[3]);
  Say("core: want read PATH OFFSET LIMIT, write PATH BYTES or patch PATH OLDBYTES NEWBYTES", NULL);
  return 2;
}
