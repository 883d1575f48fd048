/* The file tools of the agent's model, run as jobs: `beige-sandbox core read|write|patch`. They have the agent's own rights and nothing more.
 * What they answer on stdout begins with one line for the gateway, below; an error is one line on stderr, in words for the model, and
 * status 1. */
#ifndef BEIGE_SANDBOX_CORE_H_
#define BEIGE_SANDBOX_CORE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum {
  kCoreText = 50 * 1024,          /* bytes of text that one read answers with */
  kCoreImage = 5 * 1024 * 1024,
  kCoreFile = 10 * 1024 * 1024,   /* of a file that is written or patched */
  kCoreOld = 64 * 1024,           /* of a replaced file's text, for the difference */
  kCoreLine = 4096                /* of the rest of a line beside a patch, for the difference */
};

/* read PATH OFFSET LIMIT: "text FIRST COUNT TOTAL CUT\n" and whole lines from number OFFSET (1 = the first), at most LIMIT and kCoreText bytes of
 * them. TOTAL is the number of lines of the file, -1 when it is too long to be counted; CUT is 1 when the last line is not whole. Or
 * "image MEDIATYPE\n" and all of it. */
int CoreRead(const char *path, const char *offset, const char *limit);
/* write PATH BYTES, that many on stdin, fewer change nothing: "created\n", or "replaced BYTES\n" and the former content when it is no longer than
 * kCoreOld. */
int CoreWrite(const char *path, const char *bytes);
/* patch PATH OLDBYTES NEWBYTES, the old text and the new one on stdin: "patched LINE BEFORE AFTER\n" and what stood in the same lines before and after
 * the old text, each cut to nothing when longer than kCoreLine. */
int CorePatch(const char *path, const char *old_bytes, const char *new_bytes);

int CoreMain(int argc, char **argv); /* what follows `core` */

/* Says "PATH: WHAT" and what is more up to a NULL on stderr. Always 1. */
int CoreFail(const char *path, const char *what, ...);
/* `bytes` of zeroed memory, or NULL. */
uint8_t *CoreMemory(size_t bytes);
/* Reads up to `size` bytes or the end. The number read, or -1. */
int64_t CoreReadAll(int fd, void *into, size_t size);
bool CoreWriteAll(int fd, const void *bytes, size_t size);
/* Opens a regular file for reading and tells what it is; anything else is refused without ever waiting for it. -1 after saying why. */
int CoreOpen(const char *path, struct stat *status);
/* What it is that is no regular file: "a directory". */
const char *CoreKind(mode_t mode);
/* Where a path leads when its last part is a link, which may point to nothing. False when that is no end. */
bool CoreTarget(const char *path, char target[4096]);
/* Puts the bytes in the place of the file `target`, whole or not at all, with `mode`; a file that can't be replaced (a mount of its own, a
 * directory that is not ours) is written into. 0, or 1 after saying why of `path`. With `seen`, it fails when the file is another one by now. */
int CoreReplace(const char *path, const char *target, const struct stat *seen, mode_t mode, const void *bytes, size_t size);
/* Waits a moment for others who change the same file by these means. */
void CoreLock(int fd);

#endif
