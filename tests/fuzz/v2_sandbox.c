/* What PID 1 makes of a control stream: the real link.c, jobs.c, outcome.c and streams.c. Processes are the one thing left out: Spawn and
 * Hand below give a job its descriptors and reports but no process, and signals go nowhere. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox-image/sandbox/helper.h"
#include "sandbox-image/sandbox/jobs.h"
#include "sandbox-image/sandbox/link.h"
#include "sandbox-image/sandbox/outcome.h"
#include "sandbox-image/sandbox/pid1.h"
#include "sandbox-image/sandbox/probe.h"
#include "sandbox-image/sandbox/spawn.h"
#include "sandbox-image/sandbox/text.h"
#include "sandbox-image/sandbox/tree.h"

enum { kNobody = 0x3ffffff0, kMaxMade = 4096, kReader = 900 };
static int gateway_ = -1; /* the other end of the control stream */
static pid_t made_[kMaxMade];
static unsigned made_count_;
static uint8_t behaviour_;

int FuzzSocket(int domain, int type, int protocol) {
  int ends[2];
  (void)domain;
  if (socketpair(AF_UNIX, type, protocol, ends) != 0) abort();
  gateway_ = ends[1];
  fcntl(gateway_, F_SETFL, O_NONBLOCK);
  return ends[0];
}
int FuzzConnect(int fd, const void *address, unsigned length) { return fd < 0 || address == NULL || length == 0 ? -1 : 0; }
int FuzzKill(pid_t pid, int number) {
  if (pid >= -1 && pid <= 1) abort(); /* never oneself, never everybody */
  return number < 0 ? -1 : 0;
}

void FuzzSay(const char *first, ...) { (void)first; }
int Watch(int fd, uint32_t events, enum Source source, unsigned slot, uint32_t epoch) {
  (void)events, (void)source, (void)slot, (void)epoch;
  return fd < 0 ? -1 : 0;
}
void Rewatch(int fd, uint32_t events, enum Source source) { (void)fd, (void)events, (void)source; }
const uint8_t *RegistrationKey(void) {
  static const uint8_t key[32] = {1};
  return key;
}
bool Stopping(void) { return false; }
void KillEverything(void) { JobsAllKilled(); }
void EndCell(void) { abort(); }
void ProbeStart(const uint8_t *nonce, uint32_t length) {
  uint8_t sum = 0;
  for (uint32_t i = 0; i < length; i++) sum = (uint8_t)(sum + nonce[i]);
  LinkSend(0, BGE_PROBED, 0, &sum, 1, NULL, 0);
}
void ProbeCancel(void) {}
void TreeForget(void) {}
uint64_t TreeMemory(pid_t root) { return (uint64_t)root << 20; }
void TreeMeasure(void) {}
unsigned TreeSignal(pid_t root, int number) { return root <= 1 || number == 0; }

static void Tell(int fd, enum ReportKind kind, int value, uint32_t others) {
  struct Report report = {kind, value, others, "text"};
  if (send(fd, &report, sizeof report, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return;
}

static void MakeStreams(struct Job *job) {
  int in[2], out[2], err[2];
  if (pipe2(in, O_CLOEXEC | O_NONBLOCK) != 0 || pipe2(out, O_CLOEXEC | O_NONBLOCK) != 0 || pipe2(err, O_CLOEXEC | O_NONBLOCK) != 0) abort();
  job->in = in[1];
  job->out[0] = out[0];
  job->out[1] = err[0];
  job->in_ready = true;
  uint8_t length = (uint8_t)(behaviour_ * 3);
  if (write(out[1], "output of the job that is sent on as credit allows", length % 50) < 0) abort();
  if ((behaviour_ & 16) == 0 && dup2(in[0], kReader) < 0) abort(); /* a reader that does not read; one is enough */
  close(in[0]);
  close(out[1]);
  close(err[1]);
}

int Spawn(struct Job *job, unsigned slot, const struct Request *request) {
  int control[2];
  (void)slot;
  if (made_count_ == kMaxMade) return EAGAIN;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0) abort();
  job->helper = made_[made_count_] = (pid_t)(kNobody - made_count_);
  made_count_++;
  job->control = control[0];
  job->tty = request->tty;
  job->pooled = request->fields == NULL;
  MakeStreams(job);
  if (behaviour_ & 1) Tell(control[1], kReady, job->helper - 0x10000, 0);
  if (behaviour_ & 2) Tell(control[1], kFailed, 127, 0);
  if (behaviour_ & 4) Tell(control[1], kEnded, behaviour_ << 4, behaviour_ & 8);
  close(control[1]);
  return 0;
}
int Renew(struct Job *job, unsigned slot) {
  struct Job spare = {.generation = job->generation, .helper = job->helper, .control = job->control, .pooled = true};
  (void)slot;
  *job = spare;
  MakeStreams(job);
  return 0;
}
int Hand(struct Job *spare, const struct Request *request) { return spare->helper % 2 == 0 && request->length > 0 ? 0 : 1; }

static void Turn(void) {
  char sink[65536];
  if (LinkUp() || gateway_ >= 0) LinkOnEvent(EPOLLIN | EPOLLOUT);
  JobsStep(NowMs());
  JobsRefill(NowMs());
  LinkFlush();
  while (gateway_ >= 0 && recv(gateway_, sink, sizeof sink, MSG_DONTWAIT) > 0) {}
}

static void Give(const uint8_t *bytes, size_t length, size_t step) {
  while (length > 0) {
    size_t now = length < step ? length : step;
    if (send(gateway_, bytes, now, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return; /* PID 1 has hung up */
    bytes += now;
    length -= now;
    Turn();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  signal(SIGPIPE, SIG_IGN); /* as PID 1 does */
  int lowest = dup(0);
  close(lowest);
  made_count_ = 0;
  behaviour_ = data[1];
  LinkDial();
  size_t step = data[0] % 64 == 0 ? 65536 : data[0] % 64;
  if (data[0] & 64) { /* straight to where jobs are taken */
    uint8_t hello[BGE_PREAMBLE_BYTES + BGE_HEADER_BYTES];
    PutPreamble(hello, BGE_ROLE_CONTROL);
    PutHeader(hello + BGE_PREAMBLE_BYTES, 0, 0, BGE_REGISTERED, 0);
    Give(hello, sizeof hello, sizeof hello);
    if (!LinkUp()) abort();
  }
  Give(data + 2, size - 2, step);
  close(gateway_);
  gateway_ = -1;
  LinkOnEvent(EPOLLIN | EPOLLHUP);
  LinkTick(NowMs());
  if (LinkUp()) abort();
  /* Whatever was started ends, and nothing of it is left. */
  for (unsigned i = 0; i < made_count_; i++) JobsHelperEnded(made_[i]);
  JobsDropSpares();
  for (int i = 0; i < 3; i++) JobsStep(NowMs() + 1000000);
  if (gateway_ >= 0) close(gateway_);
  gateway_ = -1;
  close(kReader);
  int lowest_now = dup(0);
  close(lowest_now);
  if (lowest_now != lowest) {
    fprintf(stderr, "does not hold: descriptors of a lost connection's jobs are closed\n");
    abort();
  }
  return 0;
}
