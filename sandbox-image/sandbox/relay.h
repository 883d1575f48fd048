/* The bytes of one call, both ways, on one thread that never blocks in anything but poll. */
#ifndef BEIGE_SANDBOX_RELAY_H_
#define BEIGE_SANDBOX_RELAY_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { kCallId = 1 };
/* Beside BGE_HOW_*: no EXIT came, `text` says why; our own stdout or stderr has no reader. */
enum { kHowBroken = 100, kHowOutputClosed = 101 };

struct Ending {
  int how;
  int code;
  char text[900];
};

/* Sends `request` on the non-blocking `fd` and relays until the call has ended. */
void Relay(int fd, const uint8_t *request, size_t length, bool input, struct Ending *ending);

#endif
