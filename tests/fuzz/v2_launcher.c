/* What a launcher makes of the gateway's answer: the real relay.c. Its writes go nowhere, in pieces. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t FuzzWrite(int fd, const void *bytes, size_t length) {
  if (fd != 1 && fd != 2) abort();
  if (bytes == NULL && length > 0) abort();
  return (ssize_t)(length > 1000 ? 1000 : length);
}
#define write FuzzWrite
#include "sandbox-image/sandbox/relay.c"
#undef write

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint8_t request[] = "what the launcher sends first";
  int ends[2];
  struct Ending ending = {-1, 0, ""};
  if (size < 1) return 0;
  memset(&relay, 0, sizeof relay);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) abort();
  if (data[0] & 1) {
    uint8_t preamble[BGE_PREAMBLE_BYTES];
    PutPreamble(preamble, BGE_ROLE_CALLER);
    if (send(ends[1], preamble, sizeof preamble, MSG_NOSIGNAL) < 0) abort();
  }
  if (size > 1 && send(ends[1], data + 1, size - 1, MSG_NOSIGNAL) < 0) abort();
  shutdown(ends[1], SHUT_WR);
  Relay(ends[0], request, sizeof request, (data[0] & 2) != 0, &ending);
  if (ending.how < 0 || strlen(ending.text) >= sizeof ending.text) abort();
  close(ends[0]);
  close(ends[1]);
  return 0;
}
