#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core.h"
#include "text.h"

enum { kCountUpTo = 100 };

struct Part {
  const uint8_t *bytes;
  size_t size;
};

/* How often it stands there, overlaps included, at most kCountUpTo; the place of the first in `at`. */
static int64_t Count(struct Part text, struct Part part, size_t *at) {
  int64_t count = 0;
  const uint8_t *from = text.bytes, *end = text.bytes + text.size;
  while (count < kCountUpTo && part.size <= (size_t)(end - from)) {
    const uint8_t *found = memmem(from, (size_t)(end - from), part.bytes, part.size);
    if (found == NULL) break;
    if (count++ == 0) *at = (size_t)(found - text.bytes);
    from = found + 1;
  }
  return count;
}

static struct Part WithoutReturns(struct Part text) {
  uint8_t *bytes = CoreMemory(text.size);
  size_t size = 0;
  for (size_t i = 0; bytes != NULL && i < text.size; i++)
    if (!(text.bytes[i] == '\r' && i + 1 < text.size && text.bytes[i + 1] == '\n')) bytes[size++] = text.bytes[i];
  return (struct Part){bytes, bytes == NULL ? 0 : size};
}

static int NotOnce(const char *path, struct Part file, struct Part old, int64_t count) {
  char digits[24];
  if (count > 1) {
    return CoreFail(path, "oldText stands there ", Decimal(digits, count), count == kCountUpTo ? " times or more" : " times",
                    "; take more of the lines around it, so that it stands there once", NULL);
  }
  size_t at;
  struct Part plain_file = WithoutReturns(file), plain_old = WithoutReturns(old);
  if (plain_old.size > 0 && Count(plain_file, plain_old, &at) > 0) {
    const char *has = memmem(file.bytes, file.size, "\r\n", 2) != NULL ? "the file's lines end in \\r\\n (CRLF)" : "the file's lines end in \\n (LF)";
    return CoreFail(path, "oldText is not there, but it is with other line ends: ", has, "; write them the same way in oldText and newText", NULL);
  }
  return CoreFail(path, "oldText is not there; it must be the same to the last blank; read the file again", NULL);
}

static int Tell(struct Part file, size_t at, size_t size) {
  int64_t line = 1;
  size_t start = at, end = at + size;
  for (size_t i = 0; i < at; i++) line += file.bytes[i] == '\n';
  while (start > 0 && file.bytes[start - 1] != '\n') start--;
  if (end > at && file.bytes[end - 1] != '\n')
    while (end < file.size && file.bytes[end] != '\n') end++;
  size_t before = at - start > kCoreLine ? 0 : at - start;
  size_t after = end - at - size > kCoreLine ? 0 : end - at - size;
  char text[96], digits[3][24];
  size_t length = Join(text, sizeof text, "patched ", Decimal(digits[0], line), " ", Decimal(digits[1], (int64_t)before), " ",
                       Decimal(digits[2], (int64_t)after), "\n", NULL);
  return CoreWriteAll(1, text, length) && CoreWriteAll(1, file.bytes + at - before, before) && CoreWriteAll(1, file.bytes + at + size, after) ? 0 : 1;
}

/* The file behind the path, locked, and still the one that is there; another may have been put in its place while we waited. */
static int OpenLocked(const char *path, const char *target, struct stat *status) {
  for (int tries = 0;; tries++) {
    struct stat there;
    int fd = CoreOpen(path, status);
    if (fd < 0) return -1;
    CoreLock(fd);
    if (fstat(fd, status) == 0 && lstat(target, &there) == 0 && there.st_dev == status->st_dev && there.st_ino == status->st_ino) return fd;
    close(fd);
    if (tries == 20) return CoreFail(path, "is changed by somebody else all the time; nothing was written", NULL), -1;
  }
}

int CorePatch(const char *path, const char *old_bytes, const char *new_bytes) {
  static char target[4096];
  struct stat status;
  int64_t old_size = ParseDecimal(old_bytes, kCoreFile), new_size = ParseDecimal(new_bytes, kCoreFile);
  if (old_size < 1 || new_size < 0) return CoreFail(path, "oldText is empty, or a text is longer than 10 MiB", NULL);
  size_t both = (size_t)old_size + (size_t)new_size;
  uint8_t *input = CoreMemory(both + 1);
  if (input == NULL) return CoreFail(path, "not enough memory", NULL);
  if (CoreReadAll(0, input, both + 1) != (int64_t)both) return CoreFail(path, "the texts came cut; nothing was written", NULL);
  if (!CoreTarget(path, target)) return CoreFail(path, strerror(errno), NULL);
  int fd = OpenLocked(path, target, &status);
  if (fd < 0) return 1;
  uint8_t *bytes = CoreMemory(kCoreFile + 1);
  if (bytes == NULL) return CoreFail(path, "not enough memory", NULL);
  int64_t size = CoreReadAll(fd, bytes, kCoreFile + 1);
  if (size < 0) return CoreFail(path, strerror(errno), NULL);
  if (size > kCoreFile) return CoreFail(path, "is longer than 10 MiB; change it with exec, for example with sed", NULL);
  struct Part file = {bytes, (size_t)size}, old = {input, (size_t)old_size};
  size_t at = 0;
  int64_t count = Count(file, old, &at);
  if (count != 1) return NotOnce(path, file, old, count);
  size_t result = file.size - old.size + (size_t)new_size;
  uint8_t *changed = CoreMemory(result);
  if (changed == NULL) return CoreFail(path, "not enough memory", NULL);
  memcpy(changed, file.bytes, at);
  memcpy(changed + at, input + old_size, (size_t)new_size);
  memcpy(changed + at + (size_t)new_size, file.bytes + at + old.size, file.size - at - old.size);
  int failed = CoreReplace(path, target, &status, status.st_mode & 0777, changed, result);
  return failed ? failed : Tell(file, at, old.size);
}
