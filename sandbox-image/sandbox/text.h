/* Time and text without stdio, which would cost more than all the rest of this program. */
#ifndef BEIGE_SANDBOX_TEXT_H_
#define BEIGE_SANDBOX_TEXT_H_

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Milliseconds of the monotonic clock. */
int64_t NowMs(void);

/* Joins strings up to a NULL into `out`, cut to `capacity` - 1 bytes and NUL-terminated. Returns the length. */
size_t Join(char *out, size_t capacity, ...);

/* Writes "beige: " + the strings up to a NULL + newline to stderr, in one write. */
void Say(const char *first, ...);

/* Decimal digits of `value`; the answer lies in `buffer`. */
char *Decimal(char buffer[24], int64_t value);

/* Parses a whole non-negative decimal number up to `limit`, or returns -1. */
int64_t ParseDecimal(const char *text, int64_t limit);

#endif
