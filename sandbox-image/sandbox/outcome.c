#include "outcome.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper.h"
#include "link.h"
#include "streams.h"
#include "text.h"
#include "tree.h"

enum {
  kGrace = 2000,       /* between SIGTERM and SIGKILL */
  kAttached = 10000,   /* how long an attached job outlives its gateway */
  kQuiet = 100,        /* silence after which held outputs no longer hold the exit */
  kOverdue = 1000,     /* the same for outputs that never fall silent */
  kPipeBytes = 65536,  /* all that the main process can have left in a pipe */
  kHelperStuck = 200,  /* a helper that does not end with its last child (stopped from inside) is killed */
  kKillAtLeast = 5000, /* then the helper goes too, and PID 1 hunts what is left */
  kGiveUp = 6000
};

void AnnounceStart(const struct Job *job) {
  if (job->leader == 0 || job->phase != kRunning || (job->flags & BGE_FLAG_KILL_TREE) || Muted(job)) return;
  uint8_t pid[4];
  Put32(pid, (uint32_t)job->leader);
  LinkSend(job->call, BGE_STARTED, 0, pid, sizeof pid, NULL, 0);
}

static void OnReport(struct Job *job, const struct Report *report) {
  switch (report->kind) {
    case kReady:
      job->leader = report->value;
      for (int number = 1; number <= 64; number++)
        if (job->pending & (uint64_t)1 << (number - 1)) kill(-job->leader, number);
      AnnounceStart(job);
      return;
    case kFailed:
      job->fail_code = report->value;
      memcpy(job->text, report->text, sizeof job->text);
      return;
    case kEnded:
      job->ended = true;
      job->status = report->value;
      job->others = report->others != 0;
      job->ended_at = job->output_at = NowMs();
      job->out_ready[0] = job->out[0] >= 0; /* what it wrote is there, whether or not its event has been seen */
      job->out_ready[1] = job->out[1] >= 0;
      return;
    default:
      return;
  }
}

void ReadReports(struct Job *job) {
  struct Report report;
  while (true) {
    ssize_t got = recv(job->control, &report, sizeof report, MSG_DONTWAIT);
    if (got == (ssize_t)sizeof report) OnReport(job, &report);
    else if (got >= 0 || errno != EINTR) return;
  }
}

void SendExit(uint32_t call, int how, int code, const char *text) {
  uint8_t head[5];
  head[0] = (uint8_t)how;
  Put32(head + 1, (uint32_t)code);
  LinkSend(call, BGE_EXIT, 0, head, sizeof head, text, strlen(text));
}

static void SendOutcome(const struct Job *job) {
  char text[kTextBytes], digits[24];
  if (job->epoch != LinkEpoch() || !LinkUp()) return;
  if (job->verdict == kTimedOut) {
    Join(text, sizeof text, "timed out after ", Decimal(digits, job->deadline_ms), " ms", NULL);
    SendExit(job->call, BGE_HOW_TIMEOUT, 124, text);
  } else if (job->fail_code != 0) {
    SendExit(job->call, BGE_HOW_FAILED, job->fail_code, job->text);
  } else if (job->ended && WIFEXITED(job->status)) {
    SendExit(job->call, BGE_HOW_EXITED, WEXITSTATUS(job->status), "");
  } else if (job->ended) {
    SendExit(job->call, BGE_HOW_SIGNALED, WTERMSIG(job->status), "");
  } else if (job->verdict == kCancelled) {
    SendExit(job->call, BGE_HOW_SIGNALED, SIGKILL, "");
  } else {
    SendExit(job->call, BGE_HOW_LOST, 125, "the process that watches the job was killed from inside");
  }
}

void Release(struct Job *job) {
  CloseStreams(job);
  if (job->control >= 0) close(job->control);
  job->control = -1;
  job->phase = kFree;
}

void Abandon(struct Job *job) {
  CloseStreams(job);
  close(job->control);
  job->control = -1;
  job->phase = kLingering;
}

/* Nothing of the job lives; of its helper perhaps, which waits to be let go. */
static bool TreeGone(const struct Job *job) { return job->helper == 0 || (job->ended && !job->others); }

static void KillAgain(struct Job *job, int64_t now) {
  unsigned found = TreeGone(job) ? 0 : TreeSignal(job->helper, SIGKILL);
  int64_t since = now - job->kill_since;
  if (job->helper != 0 && ((found == 0 && since >= kHelperStuck) || since >= kKillAtLeast)) kill(job->helper, SIGKILL);
  job->act_at = now + (job->kill_tries < 5 ? 2 << job->kill_tries : 50);
  job->kill_tries++;
}

void StartKilling(struct Job *job, int64_t now) {
  if (job->phase == kKilling) return;
  job->phase = kKilling;
  job->kill_since = now;
  job->act_at = now + 1;
  if (job->leader == 0 || job->ended) {
    KillAgain(job, now);
  } else {
    /* Often this is all there is, and /proc need not be read. */
    kill(-job->leader, SIGKILL);
    kill(job->leader, SIGKILL);
  }
}

static void Expire(struct Job *job, int64_t now) {
  if (job->epoch != LinkEpoch() && job->lost_at == 0) job->lost_at = now;
  if (job->phase == kRunning && job->deadline != 0 && now >= job->deadline) {
    job->verdict = kTimedOut;
    job->phase = kTerminating;
    job->act_at = now + kGrace;
    if (job->helper != 0) TreeSignal(job->helper, SIGTERM);
  }
  if (job->lost_at != 0 && !(job->flags & BGE_FLAG_DETACHED) && now >= job->lost_at + kAttached && job->phase != kKilling) {
    job->verdict = kCancelled;
    StartKilling(job, now);
  }
  if (job->phase == kTerminating && now >= job->act_at) StartKilling(job, now);
  if (job->phase == kKilling && now >= job->act_at) KillAgain(job, now);
}

static bool Waits(int pumped) { return pumped == kHeld || pumped == kNoRoom || pumped == kMore; }

/* The main process has ended, background children have not: is its output through? */
static bool Settled(const struct Job *job, int64_t now) {
  if (job->pumped[0] == kEof && job->pumped[1] == kEof) return true;
  if (!Waits(job->pumped[0]) && !Waits(job->pumped[1]) && now >= job->output_at + kQuiet) return true;
  if (now < job->ended_at + kOverdue) return false;
  for (int stream = 0; stream < 2; stream++)
    if (Waits(job->pumped[stream]) && job->after_end[stream] < kPipeBytes) return false;
  return true;
}

/* True when EXIT can be sent. */
static bool Finished(struct Job *job, int64_t now) {
  bool waits = Waits(job->pumped[0]) || Waits(job->pumped[1]);
  if (TreeGone(job)) {
    bool lost = !job->ended && job->fail_code == 0;
    if (job->verdict != kNoVerdict || lost) return job->pumped[0] != kMore && job->pumped[1] != kMore;
    return !waits;
  }
  if (job->phase != kRunning) return job->phase == kKilling && now >= job->kill_since + kGiveUp;
  if (!job->ended) return false;
  if (!Settled(job, now)) return false;
  if (!(job->flags & BGE_FLAG_KILL_TREE)) return true;
  StartKilling(job, now);
  return false;
}

void Step(struct Job *job, int64_t now) {
  PumpInput(job);
  job->pumped[0] = PumpOutput(job, 0);
  job->pumped[1] = PumpOutput(job, 1);
  if (job->phase == kLingering) {
    if (job->helper == 0) Release(job);
    return;
  }
  Expire(job, now);
  if (!Finished(job, now)) return;
  SendOutcome(job);
  LinkFlush(); /* before the helper is let go, which would take this processor */
  if (job->helper == 0) {
    Release(job);
    return;
  }
  CloseInput(job);
  job->phase = kLingering;
  if (!TreeGone(job)) return;
  CloseStreams(job);
  job->phase = kIdle;
}

static void Earlier(int64_t *next, int64_t wanted, int64_t now) {
  if (wanted > now && wanted < *next) *next = wanted;
}

int64_t NextTime(const struct Job *job, int64_t now) {
  int64_t next = INT64_MAX;
  for (int stream = 0; stream < 2; stream++)
    if (job->pumped[stream] == kMore || (job->pumped[stream] == kNoRoom && LinkRoom() > 0)) return now;
  if (job->phase == kLingering) return next;
  if (job->phase == kRunning && job->deadline != 0) Earlier(&next, job->deadline, now);
  if (job->phase == kRunning && job->ended && job->others) {
    Earlier(&next, job->output_at + kQuiet, now);
    Earlier(&next, job->ended_at + kOverdue, now);
  }
  if (job->phase == kTerminating || job->phase == kKilling) Earlier(&next, job->act_at, now);
  if (job->phase == kKilling) Earlier(&next, job->kill_since + kGiveUp, now);
  if (job->epoch != LinkEpoch() && !(job->flags & BGE_FLAG_DETACHED)) {
    Earlier(&next, (job->lost_at == 0 ? now : job->lost_at) + kAttached, now);
  }
  return next;
}
