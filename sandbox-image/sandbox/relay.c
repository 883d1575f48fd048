#include "relay.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"
#include "wire.h"

enum { kCreditPortion = BGE_WINDOW_INITIAL / 4, kInBytes = BGE_HEADER_BYTES + 65536, kPipeShare = 4096, kTerminalPause = 300 };

static const int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
static volatile sig_atomic_t caught[65];

static struct {
  int fd;
  struct Ending *ending;
  bool done;
  /* To the gateway: one long message under way (the request, then input), then short ones. */
  const uint8_t *bulk;
  size_t bulk_left, small_length;
  uint8_t small[256];
  /* Input. */
  bool input, answered;
  uint32_t input_credit;
  int64_t input_not_before; /* a terminal that belongs to another job: reading it would stop us */
  uint8_t input_frame[BGE_HEADER_BYTES + BGE_CHUNK];
  /* From the gateway; an output frame that is not yet written stays at the front. */
  uint8_t in[kInBytes];
  size_t in_head, in_length;
  const uint8_t *data;
  size_t data_left;
  int data_fd;
  uint32_t owed[3];
  bool regular[3];
} relay;

static void OnCaught(int number) { caught[number] = 1; }

static void End(int how, int code, const char *text) {
  relay.done = true;
  relay.ending->how = how;
  relay.ending->code = code;
  Join(relay.ending->text, sizeof relay.ending->text, text, NULL);
}

/* Signals are let in only while we wait, so none is missed between a look and the wait. One that was ignored stays so (nohup). */
static void CatchSignals(sigset_t *while_waiting) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof kForwarded / sizeof kForwarded[0]; i++) sigaddset(&set, kForwarded[i]);
  sigprocmask(SIG_BLOCK, &set, while_waiting);
  for (size_t i = 0; i < sizeof kForwarded / sizeof kForwarded[0]; i++) {
    struct sigaction action = {.sa_flags = 0}, before;
    action.sa_handler = OnCaught;
    sigaction(kForwarded[i], &action, &before);
    if (before.sa_handler == SIG_IGN) sigaction(kForwarded[i], &before, NULL);
  }
}

/* Returns false when there is no room now; the caller keeps its wish. */
static bool QueueSmall(uint8_t kind, uint8_t stream, const uint8_t *payload, size_t length) {
  if (sizeof relay.small - relay.small_length < BGE_HEADER_BYTES + length) return false;
  PutHeader(relay.small + relay.small_length, (uint32_t)length, kCallId, kind, stream);
  memcpy(relay.small + relay.small_length + BGE_HEADER_BYTES, payload, length);
  relay.small_length += BGE_HEADER_BYTES + length;
  return true;
}

static void QueueWishes(void) {
  for (size_t i = 0; i < sizeof kForwarded / sizeof kForwarded[0]; i++) {
    uint8_t number = (uint8_t)kForwarded[i];
    if (caught[number] && QueueSmall(BGE_SIGNAL, 0, &number, 1)) caught[number] = 0;
  }
  for (uint8_t stream = 1; stream <= 2; stream++) {
    uint8_t credit[4];
    if (relay.owed[stream] < kCreditPortion) continue;
    Put32(credit, relay.owed[stream]);
    if (QueueSmall(BGE_WINDOW, stream, credit, sizeof credit)) relay.owed[stream] = 0;
  }
}

/* Whatever the gateway still had to say, an EXIT even, is read before its absence is reported: see Receive. */
static ssize_t Send(const uint8_t *bytes, size_t length) {
  ssize_t sent;
  do {
    sent = send(relay.fd, bytes, length, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0 && errno != EAGAIN) relay.bulk_left = relay.small_length = 0;
  return sent < 0 ? 0 : sent;
}

static void Flush(void) {
  if (relay.bulk_left > 0) {
    size_t sent = (size_t)Send(relay.bulk, relay.bulk_left);
    if (relay.bulk_left == 0) return;
    relay.bulk += sent;
    relay.bulk_left -= sent;
  }
  if (relay.bulk_left > 0 || relay.small_length == 0) return;
  size_t sent = (size_t)Send(relay.small, relay.small_length);
  if (relay.small_length == 0) return;
  memmove(relay.small, relay.small + sent, relay.small_length - sent);
  relay.small_length -= sent;
}

static void ReadInput(void) {
  if (isatty(0) && tcgetpgrp(0) != getpgrp()) {
    relay.input_not_before = NowMs() + kTerminalPause;
    return;
  }
  size_t want = relay.input_credit < BGE_CHUNK ? relay.input_credit : BGE_CHUNK;
  ssize_t got = read(0, relay.input_frame + BGE_HEADER_BYTES, want);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    got = 0;
    relay.input = false;
  }
  relay.input_credit -= (uint32_t)got;
  PutHeader(relay.input_frame, (uint32_t)got, kCallId, BGE_STDIN, 0);
  relay.bulk = relay.input_frame;
  relay.bulk_left = BGE_HEADER_BYTES + (size_t)got;
}

static void OnFrame(const struct Frame *frame) {
  switch (frame->kind) {
    case BGE_STDOUT:
    case BGE_STDERR:
      relay.data = frame->payload;
      relay.data_left = frame->length;
      relay.data_fd = frame->kind == BGE_STDOUT ? 1 : 2;
      return;
    case BGE_WINDOW:
      if (frame->length == 4 && frame->stream == 0) relay.input_credit += Get32(frame->payload);
      return;
    case BGE_PING:
      QueueSmall(BGE_PONG, 0, frame->payload, frame->length > 8 ? 8 : frame->length);
      return;
    case BGE_EXIT:
    case BGE_REFUSED: {
      char text[sizeof relay.ending->text];
      size_t skip = frame->kind == BGE_EXIT ? 5 : 0;
      if (frame->length < skip) break;
      size_t length = frame->length - skip < sizeof text - 1 ? frame->length - skip : sizeof text - 1;
      memcpy(text, frame->payload + skip, length);
      text[length] = '\0';
      if (skip == 0) End(kHowBroken, 125, text[0] == '\0' ? "refused by the gateway" : text);
      else End(frame->payload[0], (int)Get32(frame->payload + 1), text);
      return;
    }
    default:
      return;
  }
  End(kHowBroken, 125, "protocol error: a malformed frame");
}

/* Handles frames until one with output has to be written first. */
static void Parse(void) {
  while (!relay.done && relay.data_left == 0) {
    uint8_t *next = relay.in + relay.in_head;
    size_t left = relay.in_length - relay.in_head, used;
    if (!relay.answered) {
      if (left < BGE_PREAMBLE_BYTES) break;
      int fits = CheckPreamble(next, BGE_ROLE_CALLER);
      if (fits == 0) End(kHowBroken, 125, "the gateway speaks no protocol version of this launcher; restart the sandbox");
      if (fits < 0) End(kHowBroken, 125, "protocol error: the gateway does not speak protocol v2");
      relay.answered = true;
      used = BGE_PREAMBLE_BYTES;
    } else {
      struct Frame frame;
      int complete = NextFrame(next, left, &frame);
      if (complete < 0 || (left >= BGE_HEADER_BYTES && frame.length > kInBytes - BGE_HEADER_BYTES)) {
        End(kHowBroken, 125, "protocol error: a frame beyond the limit");
        return;
      }
      if (complete == 0) break;
      OnFrame(&frame);
      used = BGE_HEADER_BYTES + frame.length;
    }
    relay.in_head += used;
  }
}

static void Receive(void) {
  /* Nothing before the head is in use: Receive is called only without unwritten output. */
  memmove(relay.in, relay.in + relay.in_head, relay.in_length - relay.in_head);
  relay.in_length -= relay.in_head;
  relay.in_head = 0;
  ssize_t got = recv(relay.fd, relay.in + relay.in_length, sizeof relay.in - relay.in_length, 0);
  if (got > 0) relay.in_length += (size_t)got;
  else if (got == 0 || (errno != EAGAIN && errno != EINTR)) End(kHowBroken, 125, "the connection to the gateway was lost");
}

static void WriteOutput(void) {
  int fd = relay.data_fd;
  /* A pipe that is ready takes this much without blocking. */
  size_t share = relay.regular[fd] || relay.data_left < kPipeShare ? relay.data_left : kPipeShare;
  ssize_t put = write(fd, relay.data, share);
  if (put >= 0) {
    relay.data += put;
    relay.data_left -= (size_t)put;
    relay.owed[fd] += (uint32_t)put;
  } else if (errno == EPIPE) {
    End(kHowOutputClosed, 0, "");
  } else if (errno != EAGAIN && errno != EINTR) {
    char text[200];
    Join(text, sizeof text, fd == 1 ? "stdout: " : "stderr: ", strerror(errno), NULL);
    End(kHowBroken, 125, text);
  }
}

static void Wait(const sigset_t *mask) {
  bool input = relay.input && relay.answered && relay.input_credit > 0 && relay.bulk_left == 0;
  struct timespec limit = {0, 0}, *timeout = NULL;
  if (input && relay.input_not_before != 0) {
    int64_t left = relay.input_not_before - NowMs();
    if (left > 0) {
      input = false;
      limit.tv_nsec = (long)left * 1000000;
      timeout = &limit;
    }
  }
  bool writing = relay.data_left > 0, sending = relay.bulk_left > 0 || relay.small_length > 0;
  struct pollfd polls[3] = {
      {writing && !sending ? -1 : relay.fd, (short)((writing ? 0 : POLLIN) | (sending ? POLLOUT : 0)), 0},
      {writing ? relay.data_fd : -1, POLLOUT, 0},
      {input ? 0 : -1, POLLIN, 0},
  };
  if (ppoll(polls, 3, timeout, mask) < 0) return; /* a signal */
  if (polls[1].revents != 0) WriteOutput();
  if (polls[0].revents & POLLOUT) Flush();
  if (!relay.done && !writing && (polls[0].revents & ~POLLOUT)) Receive();
  /* A lost peer while output is being written: what it sent before still counts, so only stop sending. */
  if (writing && (polls[0].revents & (POLLERR | POLLHUP))) relay.bulk_left = relay.small_length = 0;
  if (!relay.done && polls[2].revents != 0 && relay.bulk_left == 0) ReadInput();
}

void Relay(int fd, const uint8_t *request, size_t length, bool input, struct Ending *ending) {
  sigset_t while_waiting;
  relay.fd = fd;
  relay.ending = ending;
  relay.bulk = request;
  relay.bulk_left = length;
  relay.input = input;
  relay.input_credit = BGE_WINDOW_INITIAL;
  Flush();
  CatchSignals(&while_waiting);
  for (int i = 1; i <= 2; i++) {
    struct stat status;
    relay.regular[i] = fstat(i, &status) == 0 && S_ISREG(status.st_mode);
  }
  while (true) {
    Parse();
    if (relay.done) break;
    QueueWishes();
    Flush();
    Wait(&while_waiting);
    if (relay.done) break;
  }
}
