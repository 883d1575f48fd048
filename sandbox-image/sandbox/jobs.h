/* The table of jobs. A slot is a job from JOB (or from being made as a spare) until its helper process is reaped, which may be after
 * EXIT when the job left background children behind. */
#ifndef BEIGE_SANDBOX_JOBS_H_
#define BEIGE_SANDBOX_JOBS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire.h"

/* More slots than jobs: those whose EXIT is sent wait in theirs for the helper to be reaped. */
enum { kMaxJobs = 256, kSlots = 2 * kMaxJobs, kTextBytes = 200 };

enum Phase {
  kFree,
  kSpare,       /* processes made, no job yet */
  kIdle,        /* EXIT is sent and nothing of the job lives; its helper waits to serve the next one or to be let go */
  kRunning,     /* also while outputs drain after the main process ended */
  kTerminating, /* the deadline passed: SIGTERM sent, SIGKILL at `act_at` */
  kKilling,     /* SIGKILL until nothing is left, again at `act_at` */
  kLingering    /* EXIT is sent; outputs of background children are discarded until the helper ends */
};

/* What ended the job, when it wasn't the job itself. */
enum Verdict { kNoVerdict, kTimedOut, kCancelled };

struct Job {
  enum Phase phase;
  enum Verdict verdict;
  uint32_t generation; /* of the slot, for late epoll events */
  uint32_t call, flags, deadline_ms;
  uint32_t epoch; /* of the connection that asked; on any later one this job has nobody to speak to */
  bool tty;
  bool pooled; /* made as a spare: holds no copy of a request, so it can be one again */

  pid_t helper, leader; /* 0: gone; 0: not known yet. `leader` leads the job's session and process group. */
  int control;          /* reports from both processes, and the job's request to a spare */
  uint64_t pending;     /* signals that came before `leader` was known */
  bool ended, others;   /* the main process was reaped; children were left then */
  int status;           /* of waitpid */
  int fail_code;        /* not 0: never started */
  char text[kTextBytes];

  int in, out[2]; /* -1: closed */
  bool in_ready, in_eof, out_ready[2];
  uint8_t *in_buffer; /* BGE_WINDOW_INITIAL bytes, mapped when first needed */
  size_t in_head, in_length;
  uint32_t in_owed;       /* bytes consumed and not yet credited */
  uint32_t out_credit[2]; /* bytes that may be sent */
  size_t after_end[2];    /* bytes read since the main process ended */

  int64_t started_at, deadline, act_at, kill_since, ended_at, output_at, lost_at; /* milliseconds; 0 = none */
  int pumped[2]; /* enum Pumped of the last step */
  unsigned kill_tries;
};

/* False when the gateway broke the protocol and the connection should be dropped. */
bool JobsOnFrame(struct Frame *frame);
void JobsOnEvent(int source, unsigned slot, uint32_t generation, uint32_t events);
/* Moves every job on. */
void JobsStep(int64_t now);
/* When JobsStep wants to be called next; `now` or earlier when it has more to do at once. */
int64_t JobsNextTime(int64_t now);
/* Turns the processes of ended jobs into spares or lets them go; makes a spare if one is wanted and missing. */
void JobsRefill(int64_t now);

/* True while there is a job whose processes may live. */
bool JobsRun(void);
/* Ends the job that has the most memory when all together have more than `bound` bytes. Those that are being killed don't count. Returns whether
 * it had to look closely, which is dear. */
bool JobsHoldMemory(uint64_t bound, int64_t now);

/* Tells that `pid` was reaped. Returns false when it is no job's helper. */
bool JobsHelperEnded(pid_t pid);
bool JobsIsHelper(pid_t pid);
/* Everything was killed: jobs end as killed, spares are forgotten. */
void JobsAllKilled(void);
/* Lets spares go, so that nothing keeps a stopping sandbox. */
void JobsDropSpares(void);

#endif
