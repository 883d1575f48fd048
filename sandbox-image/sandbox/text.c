#include "text.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

int64_t NowMs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static size_t JoinList(char *out, size_t capacity, size_t at, const char *part, va_list list) {
  for (; part != NULL; part = va_arg(list, const char *)) {
    size_t length = strlen(part);
    if (length > capacity - 1 - at) length = capacity - 1 - at;
    memcpy(out + at, part, length);
    at += length;
  }
  out[at] = '\0';
  return at;
}

size_t Join(char *out, size_t capacity, ...) {
  va_list list;
  va_start(list, capacity);
  const char *first = va_arg(list, const char *);
  size_t length = JoinList(out, capacity, 0, first, list);
  va_end(list);
  return length;
}

void Say(const char *first, ...) {
  static const char kPrefix[] = "beige: ";
  char line[1024];
  memcpy(line, kPrefix, sizeof kPrefix);
  va_list list;
  va_start(list, first);
  size_t length = JoinList(line, sizeof line - 1, sizeof kPrefix - 1, first, list);
  va_end(list);
  line[length++] = '\n';
  ssize_t ignored = write(2, line, length);
  (void)ignored;
}

char *Decimal(char buffer[24], int64_t value) {
  char *at = buffer + 23;
  uint64_t rest = value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value;
  *at = '\0';
  do {
    *--at = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (value < 0) *--at = '-';
  return at;
}

int64_t ParseDecimal(const char *text, int64_t limit) {
  if (*text == '\0') return -1;
  int64_t value = 0;
  for (; *text != '\0'; text++) {
    if (*text < '0' || *text > '9') return -1;
    value = value * 10 + (*text - '0');
    if (value > limit) return -1;
  }
  return value;
}
