#include "probe.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "link.h"
#include "pid1.h"
#include "text.h"
#include "wire.h"

enum { kNonceBytes = 16, kWithin = 5000, kRetry = 50, kAnswerBytes = BGE_PREAMBLE_BYTES + BGE_HEADER_BYTES + kNonceBytes };

static struct {
  bool active;
  int fd;
  int64_t give_up_at, retry_at;
  uint8_t nonce[kNonceBytes];
  uint8_t answer[kAnswerBytes];
  size_t got;
} probe = {.fd = -1};

void ProbeCancel(void) {
  if (probe.fd >= 0) close(probe.fd);
  probe.fd = -1;
  probe.active = false;
}

static void Finish(bool came_back) {
  if (!probe.active) return;
  ProbeCancel();
  LinkSend(0, BGE_PROBED, 0, probe.nonce, came_back ? kNonceBytes : 0, NULL, 0);
}

/* Connects to a Unix socket either at once or, with a full backlog, not at all: then again in a moment. */
static void Connect(int64_t now) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/beige/gateway.sock"};
  uint8_t hello[BGE_PREAMBLE_BYTES + BGE_HEADER_BYTES + kNonceBytes];
  probe.got = 0;
  probe.retry_at = now + kRetry;
  probe.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  PutPreamble(hello, BGE_ROLE_PROBE);
  PutHeader(hello + BGE_PREAMBLE_BYTES, kNonceBytes, 0, BGE_PROBE, 0);
  memcpy(hello + BGE_PREAMBLE_BYTES + BGE_HEADER_BYTES, probe.nonce, kNonceBytes);
  if (probe.fd >= 0 && connect(probe.fd, (struct sockaddr *)&address, sizeof address) == 0 &&
      send(probe.fd, hello, sizeof hello, MSG_NOSIGNAL) == (ssize_t)sizeof hello &&
      Watch(probe.fd, EPOLLIN, kFromProbe, 0, 0) == 0) {
    return;
  }
  if (probe.fd >= 0) close(probe.fd);
  probe.fd = -1;
}

void ProbeStart(const uint8_t *nonce, uint32_t length) {
  Finish(false);
  if (length != kNonceBytes) {
    LinkSend(0, BGE_PROBED, 0, NULL, 0, NULL, 0);
    return;
  }
  memcpy(probe.nonce, nonce, kNonceBytes);
  probe.active = true;
  int64_t now = NowMs();
  probe.give_up_at = now + kWithin;
  Connect(now);
}

void ProbeOnEvent(void) {
  if (probe.fd < 0) return;
  ssize_t got = recv(probe.fd, probe.answer + probe.got, sizeof probe.answer - probe.got, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    /* A gateway that is just going down closes; the next one may already be there. */
    close(probe.fd);
    probe.fd = -1;
    return;
  }
  probe.got += (size_t)got;
  if (probe.got < sizeof probe.answer) return;
  struct Frame frame;
  Finish(CheckPreamble(probe.answer, BGE_ROLE_PROBE) == 1 &&
         NextFrame(probe.answer + BGE_PREAMBLE_BYTES, sizeof probe.answer - BGE_PREAMBLE_BYTES, &frame) == 1 &&
         frame.kind == BGE_PROBED && frame.length == kNonceBytes && memcmp(frame.payload, probe.nonce, kNonceBytes) == 0);
}

void ProbeTick(int64_t now) {
  if (!probe.active) return;
  if (now >= probe.give_up_at) {
    Finish(false);
  } else if (probe.fd < 0 && now >= probe.retry_at) {
    Connect(now);
  }
}

int64_t ProbeNextTime(void) {
  if (!probe.active) return INT64_MAX;
  return probe.fd < 0 && probe.retry_at < probe.give_up_at ? probe.retry_at : probe.give_up_at;
}
