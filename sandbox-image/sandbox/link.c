#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "jobs.h"
#include "pid1.h"
#include "probe.h"
#include "text.h"
#include "wire.h"

enum State { kDown, kPreamble, kHello, kUp };
enum { kBackoffFirst = 50, kBackoffLast = 2000, kAnswerWithin = 10000 };
/* Data stops at kDataRoom; the rest is for exits, credits and pongs of 256 jobs. */
enum { kDataRoom = 64 * 1024, kOutBytes = 320 * 1024, kInBytes = BGE_HEADER_BYTES + BGE_MAX_PAYLOAD + 1 };

static struct {
  int fd;
  enum State state;
  bool inherited;
  bool writable;
  bool broken; /* found while sending; handled at the next tick */
  bool quiet;  /* the present failure has been said */
  uint32_t epoch;
  int64_t retry_at, give_up_at;
  int64_t backoff;
  size_t in_length, out_head, out_tail;
} link_ = {.fd = -1, .epoch = 1, .backoff = kBackoffFirst, .give_up_at = INT64_MAX};
static uint8_t in_[kInBytes];
static uint8_t out_[kOutBytes];

bool LinkUp(void) { return link_.state == kUp; }
uint32_t LinkEpoch(void) { return link_.epoch; }

static void Drop(const char *why, int64_t pause) {
  if (link_.inherited) EndCell();
  if (!link_.quiet) Say("control channel: ", why, "; trying again until the gateway answers", NULL);
  link_.quiet = true;
  if (link_.fd >= 0) close(link_.fd);
  link_.fd = -1;
  link_.state = kDown;
  link_.broken = false;
  link_.in_length = link_.out_head = link_.out_tail = 0;
  link_.epoch++;
  link_.give_up_at = INT64_MAX;
  link_.retry_at = NowMs() + pause;
  ProbeCancel();
}

static void DropAndBackOff(const char *why) {
  int64_t pause = link_.backoff;
  link_.backoff = link_.backoff * 2 > kBackoffLast ? kBackoffLast : link_.backoff * 2;
  Drop(why, pause);
}

/* The key goes out straight from its page, so that no other buffer, which a fork would copy, ever holds it. */
static int Greet(void) {
  const char *instance = getenv("BEIGE_INSTANCE");
  if (instance == NULL) instance = "";
  uint8_t head[BGE_PREAMBLE_BYTES + BGE_HEADER_BYTES + kFieldHeaderBytes];
  uint8_t tail[512];
  size_t length = PutField(tail, sizeof tail, 0, BGE_TAG_INSTANCE, instance, strnlen(instance, 256));
  length = PutField(tail, sizeof tail, length, BGE_TAG_VERSION, BEIGE_VERSION, strlen(BEIGE_VERSION));
  PutPreamble(head, BGE_ROLE_CONTROL);
  PutHeader(head + BGE_PREAMBLE_BYTES, (uint32_t)(kFieldHeaderBytes + 32 + length), 0, BGE_HELLO, 0);
  head[BGE_PREAMBLE_BYTES + BGE_HEADER_BYTES] = BGE_TAG_KEY;
  Put32(head + BGE_PREAMBLE_BYTES + BGE_HEADER_BYTES + 1, 32);
  struct iovec parts[] = {{head, sizeof head}, {(void *)(uintptr_t)RegistrationKey(), 32}, {tail, length}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
  ssize_t want = (ssize_t)(sizeof head + 32 + length);
  return sendmsg(link_.fd, &message, MSG_NOSIGNAL) == want ? 0 : -1; /* a fresh socket's buffer takes it whole */
}

static void Start(void) {
  link_.state = kPreamble;
  link_.writable = true;
  /* A cell may be made long before it is needed; its stream can't go stale unseen. */
  link_.give_up_at = link_.inherited ? INT64_MAX : NowMs() + kAnswerWithin;
  if (Watch(link_.fd, EPOLLIN, kFromLink, 0, 0) != 0 || Greet() != 0) DropAndBackOff(strerror(errno));
}

void LinkDial(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/beige/control.sock"};
  link_.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (link_.fd < 0 || connect(link_.fd, (struct sockaddr *)&address, sizeof address) != 0) {
    DropAndBackOff(strerror(errno));
    return;
  }
  Start();
}

int LinkInherit(int fd) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return -1;
  link_.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* the caller's number may be beyond kMaxDescriptors */
  if (link_.fd < 0) return -1;
  close(fd);
  link_.inherited = true;
  Start();
  return 0;
}

/* Returns false when the connection is no more. */
static bool OnFrame(struct Frame *frame) {
  if (frame->kind == BGE_PING) {
    LinkSend(frame->call, BGE_PONG, 0, frame->payload, frame->length > 64 ? 64 : frame->length, NULL, 0);
    return true;
  }
  if (frame->kind == BGE_REFUSED) {
    char why[300];
    uint8_t saved = frame->payload[frame->length];
    frame->payload[frame->length] = '\0';
    Join(why, sizeof why, "refused: ", (char *)frame->payload, NULL);
    frame->payload[frame->length] = saved;
    link_.backoff = kBackoffFirst;
    Drop(why, kBackoffLast);
    return false;
  }
  if (link_.state == kHello) {
    if (frame->kind != BGE_REGISTERED) {
      DropAndBackOff("protocol error: a frame before REGISTERED");
      return false;
    }
    link_.state = kUp;
    link_.backoff = kBackoffFirst;
    link_.give_up_at = INT64_MAX;
    link_.quiet = false;
    if (!link_.inherited) Say("control channel: registered", NULL);
    return true;
  }
  if (frame->kind == BGE_KILL_ALL) KillEverything();
  if (frame->kind == BGE_PROBE && !link_.inherited) ProbeStart(frame->payload, frame->length);
  if (JobsOnFrame(frame)) return true;
  DropAndBackOff("protocol error: a job's frame that breaks the rules");
  return false;
}

static bool Parse(void) {
  size_t at = 0;
  while (true) {
    uint8_t *next = in_ + at;
    size_t left = link_.in_length - at;
    if (link_.state == kPreamble) {
      if (left < BGE_PREAMBLE_BYTES) break;
      int fits = CheckPreamble(next, BGE_ROLE_CONTROL);
      if (fits != 1) {
        DropAndBackOff(fits == 0 ? "the gateway speaks no protocol version of ours" : "the other side does not speak protocol v2");
        return false;
      }
      link_.state = kHello;
      at += BGE_PREAMBLE_BYTES;
      continue;
    }
    struct Frame frame;
    int complete = NextFrame(next, left, &frame);
    if (complete == 0) break;
    if (complete < 0) {
      DropAndBackOff("protocol error: a frame beyond the limit");
      return false;
    }
    if (!OnFrame(&frame)) return false;
    at += BGE_HEADER_BYTES + frame.length;
  }
  if (at > 0 && at < link_.in_length) memmove(in_, in_ + at, link_.in_length - at);
  link_.in_length -= at;
  return true;
}

void LinkOnEvent(uint32_t events) {
  if (link_.fd < 0) return;
  if (events & EPOLLOUT) link_.writable = true;
  if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
  /* One byte is kept free: handlers end a text in place. */
  ssize_t got = recv(link_.fd, in_ + link_.in_length, sizeof in_ - 1 - link_.in_length, MSG_DONTWAIT);
  if (got > 0) {
    link_.in_length += (size_t)got;
    Parse();
  } else if (got == 0) {
    DropAndBackOff("closed by the gateway");
  } else if (errno != EAGAIN && errno != EINTR) {
    DropAndBackOff(strerror(errno));
  }
}

void LinkTick(int64_t now) {
  if (link_.broken) DropAndBackOff("the gateway does not read");
  if (link_.fd >= 0 && now >= link_.give_up_at) DropAndBackOff("no answer within 10 s");
  if (link_.fd < 0 && !link_.inherited && now >= link_.retry_at) LinkDial();
}

int64_t LinkNextTime(void) { return link_.fd < 0 ? link_.retry_at : link_.give_up_at; }

static size_t Queued(void) { return link_.out_tail - link_.out_head; }

static void MakeRoom(size_t length) {
  if (kOutBytes - link_.out_tail >= length) return;
  memmove(out_, out_ + link_.out_head, Queued());
  link_.out_tail -= link_.out_head;
  link_.out_head = 0;
}

size_t LinkRoom(void) {
  size_t used = Queued() + BGE_HEADER_BYTES;
  return link_.state == kUp && used < kDataRoom ? kDataRoom - used : 0;
}

uint8_t *LinkReserve(size_t length) {
  MakeRoom(BGE_HEADER_BYTES + length);
  return out_ + link_.out_tail + BGE_HEADER_BYTES;
}

void LinkCommit(size_t length, uint32_t call, uint8_t kind, uint8_t stream) {
  PutHeader(out_ + link_.out_tail, (uint32_t)length, call, kind, stream);
  link_.out_tail += BGE_HEADER_BYTES + length;
}

void LinkSend(uint32_t call, uint8_t kind, uint8_t stream, const void *first, size_t first_length, const void *second,
              size_t second_length) {
  size_t length = first_length + second_length;
  if (link_.fd < 0 || link_.broken) return;
  if (Queued() + BGE_HEADER_BYTES + length > kOutBytes) {
    link_.broken = true;
    return;
  }
  uint8_t *at = LinkReserve(length);
  if (first_length != 0) memcpy(at, first, first_length);
  if (second_length != 0) memcpy(at + first_length, second, second_length);
  LinkCommit(length, call, kind, stream);
}

void LinkFlush(void) {
  while (Queued() != 0 && link_.writable) {
    ssize_t sent = send(link_.fd, out_ + link_.out_head, Queued(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      link_.out_head += (size_t)sent;
      continue;
    }
    if (errno == EINTR) continue;
    link_.writable = false;
    if (errno == EAGAIN) {
      Rewatch(link_.fd, EPOLLIN | EPOLLOUT, kFromLink);
    } else {
      DropAndBackOff(strerror(errno));
    }
    return;
  }
  if (Queued() == 0) link_.out_head = link_.out_tail = 0;
}
