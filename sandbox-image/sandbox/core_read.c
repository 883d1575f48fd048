#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core.h"
#include "text.h"

enum { kChunk = 64 * 1024 };
/* Up to this size the lines of a file are counted to its end. */
static const int64_t kCounted = 64 * 1024 * 1024;

static const char *ImageType(const uint8_t *head, size_t length) {
  if (length >= 8 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0) return "image/png";
  if (length >= 3 && memcmp(head, "\xff\xd8\xff", 3) == 0) return "image/jpeg";
  if (length >= 6 && (memcmp(head, "GIF87a", 6) == 0 || memcmp(head, "GIF89a", 6) == 0)) return "image/gif";
  if (length >= 12 && memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "WEBP", 4) == 0) return "image/webp";
  return NULL;
}

static int Image(const char *path, int fd, const char *type, const uint8_t *head, size_t length) {
  char line[64];
  uint8_t *bytes = CoreMemory(kCoreImage + 1);
  if (bytes == NULL) return CoreFail(path, "not enough memory for the image", NULL);
  memcpy(bytes, head, length);
  int64_t rest = CoreReadAll(fd, bytes + length, kCoreImage + 1 - length);
  if (rest < 0) return CoreFail(path, strerror(errno), NULL);
  if ((size_t)rest + length > kCoreImage) return CoreFail(path, "is an image of more than 5 MiB; make it smaller to look at it", NULL);
  size_t size = Join(line, sizeof line, "image ", type, "\n", NULL);
  return CoreWriteAll(1, line, size) && CoreWriteAll(1, bytes, (size_t)rest + length) ? 0 : 1;
}

struct Lines {
  int64_t offset, limit; /* wanted */
  int64_t count;         /* taken */
  int64_t line;          /* number of the line at hand, 1 = the first */
  size_t length;         /* bytes taken */
  size_t whole;          /* of these up to the end of the last whole line */
  bool full, begun, cut;
  char text[kCoreText];
};

static void Take(struct Lines *lines, const uint8_t *bytes, size_t length) {
  while (length > 0) {
    const uint8_t *end = memchr(bytes, '\n', length);
    size_t size = end == NULL ? length : (size_t)(end - bytes) + 1;
    bool wanted = lines->line >= lines->offset && lines->count < lines->limit && !lines->full;
    if (wanted) {
      size_t room = sizeof lines->text - lines->length;
      lines->full = size > room;
      memcpy(lines->text + lines->length, bytes, size > room ? room : size);
      lines->length += size > room ? room : size;
    }
    lines->begun = end == NULL;
    if (end != NULL) {
      if (wanted && !lines->full) {
        lines->count++;
        lines->whole = lines->length;
      }
      lines->line++;
    }
    bytes += size;
    length -= size;
  }
}

static int Answer(struct Lines *lines, bool at_end) {
  if (lines->length > lines->whole) {
    /* A last line without an end is whole, one that does not fit is left for the next time, and only a very long one is cut. */
    if (!lines->full && at_end) {
      lines->count++;
      lines->whole = lines->length;
    } else if (lines->count == 0) {
      lines->count++;
      lines->whole = lines->length;
      lines->cut = true;
    }
  }
  char line[160], first[24], count[24], total[24];
  size_t size = Join(line, sizeof line, "text ", Decimal(first, lines->offset), " ", Decimal(count, lines->count), " ",
                     Decimal(total, at_end ? lines->line - (lines->begun ? 0 : 1) : -1), lines->cut ? " 1\n" : " 0\n", NULL);
  return CoreWriteAll(1, line, size) && CoreWriteAll(1, lines->text, lines->whole) ? 0 : 1;
}

int CoreRead(const char *path, const char *offset, const char *limit) {
  static uint8_t chunk[kChunk];
  static struct Lines lines;
  struct stat status;
  lines.offset = ParseDecimal(offset, INT64_MAX / 16);
  lines.limit = ParseDecimal(limit, INT64_MAX / 16);
  lines.line = 1;
  if (lines.offset < 1 || lines.limit < 1) return CoreFail(path, "want an offset and a limit of at least 1", NULL);
  int fd = CoreOpen(path, &status);
  if (fd < 0) return 1;
  for (int64_t done = 0;;) {
    int64_t got = CoreReadAll(fd, chunk, sizeof chunk);
    if (got < 0) return CoreFail(path, strerror(errno), NULL);
    const char *type = done == 0 ? ImageType(chunk, (size_t)got) : NULL;
    if (type != NULL) return Image(path, fd, type, chunk, (size_t)got);
    /* What is only passed on the way to the offset may hold anything. */
    bool shown = lines.count < lines.limit && !lines.full;
    if ((done == 0 || (shown && lines.line >= lines.offset)) && memchr(chunk, '\0', (size_t)got) != NULL) {
      return CoreFail(path, "is a binary file; look at it with exec, for example with file, xxd or strings", NULL);
    }
    Take(&lines, chunk, (size_t)got);
    done += got;
    if (got < (int64_t)sizeof chunk) return Answer(&lines, true);
    shown = lines.count < lines.limit && !lines.full;
    if (!shown && (status.st_size > kCounted || done > kCounted)) return Answer(&lines, false);
  }
}
