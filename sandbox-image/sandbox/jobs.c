#include "jobs.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "link.h"
#include "outcome.h"
#include "pid1.h"
#include "spawn.h"
#include "streams.h"
#include "text.h"
#include "tree.h"

/* Two, so that one is there while the next is made; made when no job has just begun, for it would run beside that one,
 * whose processes are likely to be a spare again in a moment. */
enum { kSpares = 2, kSpareRetry = 100, kYoung = 20 };

static struct Job jobs[kSlots];
static unsigned in_use; /* slots below this have been used */
static int64_t refill_at;

/* Descriptors are what a job costs, so those that have let go of theirs don't count. */
static bool IsFull(void) {
  unsigned count = 0;
  for (unsigned i = 0; i < in_use; i++) count += jobs[i].phase != kFree && jobs[i].control >= 0;
  return count >= kMaxJobs;
}

static struct Job *NewSlot(void) {
  if (IsFull()) return NULL;
  for (unsigned i = 0; i < kSlots; i++) {
    if (jobs[i].phase != kFree) continue;
    uint32_t generation = jobs[i].generation + 1;
    memset(&jobs[i], 0, sizeof jobs[i]);
    jobs[i].generation = generation;
    if (i >= in_use) in_use = i + 1;
    return &jobs[i];
  }
  return NULL;
}

static unsigned SlotOf(const struct Job *job) { return (unsigned)(job - jobs); }

static struct Job *FindCall(uint32_t call) {
  for (unsigned i = 0; i < in_use; i++) {
    struct Job *job = &jobs[i];
    if (job->phase >= kRunning && job->phase < kLingering && job->call == call && job->epoch == LinkEpoch()) return job;
  }
  return NULL;
}

/* Rather one that stands and waits than one that is just being made. */
static struct Job *FindSpare(void) {
  struct Job *found = NULL;
  for (unsigned i = 0; i < in_use; i++)
    if (jobs[i].phase == kSpare && !jobs[i].ended && (found == NULL || jobs[i].leader != 0)) found = &jobs[i];
  return found;
}

/* The parts of a JOB that PID 1 itself obeys; the rest is read by the process that becomes the program. */
struct Wanted {
  uint32_t flags, deadline_ms;
  bool program;
  struct Request request;
};

static bool ReadWanted(struct Frame *frame, struct Wanted *wanted) {
  struct Field field;
  size_t at = 0;
  int more;
  memset(wanted, 0, sizeof *wanted);
  wanted->request.fields = frame->payload;
  wanted->request.length = frame->length;
  while ((more = NextField(frame->payload, frame->length, &at, &field)) == 1) {
    if (field.tag == BGE_TAG_ARG) wanted->program = true;
    if (field.tag == BGE_TAG_FLAGS && field.length == 4) wanted->flags = Get32(field.bytes);
    if (field.tag == BGE_TAG_DEADLINE && field.length == 4) wanted->deadline_ms = Get32(field.bytes);
    if (field.tag == BGE_TAG_TTY && field.length == 4) {
      wanted->request.tty = true;
      wanted->request.columns = Get16(field.bytes);
      wanted->request.rows = Get16(field.bytes + 2);
    }
  }
  return more == 0;
}

static void Refuse(uint32_t call, int code, const char *what, const char *why) {
  char text[kTextBytes];
  Join(text, sizeof text, what, why, NULL);
  SendExit(call, BGE_HOW_FAILED, code, text);
}

/* A pair of processes for the job: the spare if it is alive and suits, else a new one. Answers NULL and an errno. */
static struct Job *Processes(const struct Request *request, int *error) {
  struct Job *job;
  while (!request->tty && request->length <= kSpareRequest && (job = FindSpare()) != NULL) {
    kill(job->helper, SIGCONT); /* a job may have stopped what stood there waiting */
    if (job->leader != 0) kill(job->leader, SIGCONT);
    if (Hand(job, request) == 0) return job;
    Abandon(job);
  }
  job = NewSlot();
  *error = job == NULL ? EAGAIN : Spawn(job, SlotOf(job), request);
  return *error == 0 ? job : NULL;
}

static bool StartJob(struct Frame *frame) {
  struct Wanted wanted;
  int error = 0;
  if (FindCall(frame->call) != NULL) return false;
  if (!ReadWanted(frame, &wanted) || !wanted.program) {
    Refuse(frame->call, 125, "job: malformed fields or no ARG", "");
    return true;
  }
  if (Stopping()) {
    Refuse(frame->call, 125, "job: the sandbox is stopping", "");
    return true;
  }
  struct Job *job = Processes(&wanted.request, &error);
  if (job == NULL) {
    Refuse(frame->call, 126, "can't start a process: ", strerror(error));
    return true;
  }
  job->phase = kRunning;
  job->call = frame->call;
  job->epoch = LinkEpoch();
  job->flags = wanted.flags;
  job->deadline_ms = wanted.deadline_ms;
  job->started_at = NowMs();
  job->deadline = wanted.deadline_ms == 0 ? 0 : job->started_at + wanted.deadline_ms;
  job->out_credit[0] = job->out_credit[1] = BGE_WINDOW_INITIAL;
  if (!(wanted.flags & BGE_FLAG_STDIN)) {
    if (!job->tty) CloseInput(job);
  }
  AnnounceStart(job);
  return true;
}

/* To the job's process group, and to a terminal's foreground group when a shell has put that elsewhere. */
static void SendSignal(const struct Job *job, int number) {
  pid_t foreground;
  kill(-job->leader, number);
  if (job->tty && job->out[0] >= 0 && ioctl(job->out[0], TIOCGPGRP, &foreground) == 0 && foreground > 1 && foreground != job->leader) {
    kill(-foreground, number);
  }
}

static void OnSignal(struct Job *job, int number) {
  if (number == SIGKILL) {
    if (job->verdict == kNoVerdict) job->verdict = kCancelled;
    StartKilling(job, NowMs());
  } else if (number < 1 || number > 64) {
    return;
  } else if (job->leader == 0) {
    job->pending |= (uint64_t)1 << (number - 1);
  } else if (!(job->ended && !job->others)) {
    SendSignal(job, number);
  }
}

bool JobsOnFrame(struct Frame *frame) {
  if (frame->kind == BGE_JOB) return StartJob(frame);
  struct Job *job = FindCall(frame->call);
  if (job == NULL) return true; /* it may just have ended */
  switch (frame->kind) {
    case BGE_STDIN:
      if (!(job->flags & BGE_FLAG_STDIN) || job->in_eof) return true;
      if (!TakeInput(job, frame->payload, frame->length)) {
        /* The one who sends too much may be agent code behind the gateway: only its own job pays. */
        job->fail_code = 125;
        Join(job->text, sizeof job->text, "protocol error: more input than the window allows", NULL);
        StartKilling(job, NowMs());
      }
      return true;
    case BGE_SIGNAL:
      if (frame->length == 1) OnSignal(job, frame->payload[0]);
      return true;
    case BGE_RESIZE:
      if (frame->length == 4 && job->tty && job->out[0] >= 0) {
        struct winsize size = {.ws_col = Get16(frame->payload), .ws_row = Get16(frame->payload + 2)};
        ioctl(job->out[0], TIOCSWINSZ, &size);
      }
      return true;
    case BGE_WINDOW:
      if (frame->length == 4 && (frame->stream == 1 || frame->stream == 2)) {
        uint32_t *credit = &job->out_credit[frame->stream - 1];
        uint32_t more = Get32(frame->payload);
        *credit = more > (1u << 30) - (*credit & ((1u << 30) - 1)) ? 1u << 30 : *credit + more;
      }
      return true;
    default:
      return true;
  }
}

void JobsOnEvent(int source, unsigned slot, uint32_t generation, uint32_t events) {
  struct Job *job = &jobs[slot];
  if (job->phase == kFree || job->generation != generation) return;
  if (source == kFromControl) ReadReports(job);
  if (source == kFromStdout) job->out_ready[0] = true;
  if (source == kFromStderr) job->out_ready[1] = true;
  if (source == kFromStdin && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP))) job->in_ready = true;
}

void JobsStep(int64_t now) {
  for (unsigned i = 0; i < in_use; i++)
    if (jobs[i].phase >= kRunning) Step(&jobs[i], now);
  while (in_use > 0 && jobs[in_use - 1].phase == kFree) in_use--;
}

int64_t JobsNextTime(int64_t now) {
  int64_t next = INT64_MAX;
  for (unsigned i = 0; i < in_use; i++) {
    if (jobs[i].phase < kRunning) continue;
    int64_t wanted = NextTime(&jobs[i], now);
    if (wanted < next) next = wanted;
  }
  return next;
}

void JobsRefill(int64_t now) {
  static const struct Request kNone;
  unsigned spares = 0;
  bool young = false, wanted = LinkUp() && !Stopping();
  for (unsigned i = 0; i < in_use; i++) {
    if (jobs[i].phase == kSpare && jobs[i].ended) Abandon(&jobs[i]); /* killed from inside while it waited */
    if (jobs[i].phase == kSpare) spares++;
    if (jobs[i].phase == kRunning && now < jobs[i].started_at + kYoung) young = true;
  }
  for (unsigned i = 0; i < in_use; i++) {
    struct Job *job = &jobs[i];
    if (job->phase != kIdle) continue;
    /* One that was killed may not have taken its request yet, which then lies before whatever its helper reads next. */
    bool clean = job->pooled && !WIFSIGNALED(job->status);
    if (wanted && clean && spares < kSpares && Renew(job, i) == 0) {
      job->phase = kSpare;
      spares++;
    } else {
      Abandon(job);
    }
  }
  if (!wanted || now < refill_at) return;
  if (spares >= kSpares || (spares > 0 && young)) return;
  struct Job *job = NewSlot();
  if (job == NULL || Spawn(job, SlotOf(job), &kNone) != 0) {
    refill_at = now + kSpareRetry;
    return;
  }
  job->phase = kSpare;
}

bool JobsRun(void) {
  for (unsigned i = 0; i < in_use; i++)
    if (jobs[i].phase >= kRunning && jobs[i].helper != 0) return true;
  return false;
}

static uint64_t Memory(struct Job **largest) {
  uint64_t sum = 0, most = 0;
  for (unsigned i = 0; i < in_use; i++) {
    if ((jobs[i].phase != kRunning && jobs[i].phase != kTerminating) || jobs[i].helper == 0) continue;
    uint64_t has = TreeMemory(jobs[i].helper);
    sum += has;
    if (has > most) *largest = &jobs[i];
    if (has > most) most = has;
  }
  return sum;
}

bool JobsHoldMemory(uint64_t bound, int64_t now) {
  struct Job *largest = NULL;
  if (Memory(&largest) <= bound) return false;
  TreeMeasure();
  if (Memory(&largest) <= bound) return true;
  char digits[24];
  largest->fail_code = 125;
  Join(largest->text, sizeof largest->text, "ended: its cell used more than ", Decimal(digits, (int64_t)(bound >> 20)), " MiB of memory", NULL);
  StartKilling(largest, now);
  return true;
}

bool JobsIsHelper(pid_t pid) {
  for (unsigned i = 0; i < in_use; i++)
    if (jobs[i].phase != kFree && jobs[i].helper == pid) return true;
  return false;
}

bool JobsHelperEnded(pid_t pid) {
  for (unsigned i = 0; i < in_use; i++) {
    struct Job *job = &jobs[i];
    if (job->phase == kFree || job->helper != pid) continue;
    ReadReports(job);
    job->helper = 0;
    if (job->phase == kSpare || job->phase == kIdle) Release(job);
    return true;
  }
  return false;
}

void JobsAllKilled(void) {
  for (unsigned i = 0; i < in_use; i++) {
    if (jobs[i].phase == kSpare || jobs[i].phase == kIdle) Abandon(&jobs[i]);
    if (jobs[i].phase >= kRunning && jobs[i].verdict == kNoVerdict && !jobs[i].ended) jobs[i].verdict = kCancelled;
  }
}

void JobsDropSpares(void) {
  for (unsigned i = 0; i < in_use; i++)
    if (jobs[i].phase == kSpare) Abandon(&jobs[i]);
}
