#include "streams.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "link.h"
#include "text.h"

/* Credit goes back in portions, so that a trickle of input does not double the frames; three quarters of the window stay open. */
enum { kCreditPortion = BGE_WINDOW_INITIAL / 4, kChunksPerRound = 2 };

static uint8_t discarded[BGE_CHUNK];

bool Muted(const struct Job *job) { return job->phase == kLingering || job->epoch != LinkEpoch() || !LinkUp(); }

static void CloseOutput(struct Job *job, int stream) {
  if (job->out[stream] >= 0) close(job->out[stream]);
  job->out[stream] = -1;
  job->out_ready[stream] = false;
}

enum Pumped PumpOutput(struct Job *job, int stream) {
  for (int chunk = 0; chunk < kChunksPerRound; chunk++) {
    if (job->out[stream] < 0) return kEof;
    if (!job->out_ready[stream]) return kEmpty;
    bool muted = Muted(job);
    size_t want = BGE_CHUNK;
    uint8_t *into = discarded;
    if (!muted) {
      if (want > job->out_credit[stream]) want = job->out_credit[stream];
      if (want == 0) return kHeld;
      if (want > LinkRoom()) want = LinkRoom();
      if (want == 0) return kNoRoom;
      into = LinkReserve(want);
    }
    ssize_t got = read(job->out[stream], into, want);
    if (got > 0) {
      job->output_at = NowMs();
      if (job->ended) job->after_end[stream] += (size_t)got;
      if (muted) continue;
      job->out_credit[stream] -= (uint32_t)got;
      LinkCommit((size_t)got, job->call, stream == 0 ? BGE_STDOUT : BGE_STDERR, 0);
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else if (got < 0 && errno == EAGAIN) {
      job->out_ready[stream] = false;
      return kEmpty;
    } else {
      CloseOutput(job, stream); /* end of file, or EIO of a terminal that nobody has open any more */
      return kEof;
    }
  }
  return kMore;
}

static void Consumed(struct Job *job, size_t length) {
  job->in_owed += (uint32_t)length;
  if (job->in_owed < kCreditPortion || Muted(job)) return;
  uint8_t credit[4];
  Put32(credit, job->in_owed);
  LinkSend(job->call, BGE_WINDOW, 0, credit, sizeof credit, NULL, 0);
  job->in_owed = 0;
}

void CloseInput(struct Job *job) {
  if (job->in >= 0) close(job->in);
  job->in = -1;
  if (job->in_buffer != NULL) munmap(job->in_buffer, BGE_WINDOW_INITIAL);
  job->in_buffer = NULL;
  job->in_length = 0;
}

/* Writes what the pipe takes. Returns how much of it is done with: all of it when the reader is gone, as with any pipe to a program
 * that does not read, except that the sender is not told so that it can't block. */
static size_t WriteInput(struct Job *job, const uint8_t *bytes, size_t length) {
  size_t done = 0;
  while (done < length && job->in_ready) {
    ssize_t put = write(job->in, bytes + done, length - done);
    if (put >= 0) {
      done += (size_t)put;
    } else if (errno == EAGAIN) {
      job->in_ready = false;
    } else if (errno != EINTR) {
      done = length;
      close(job->in);
      job->in = -1;
    }
    if (job->in < 0) break;
  }
  if (done > 0) Consumed(job, done);
  return done;
}

static void EndInput(struct Job *job) {
  /* A terminal has no end of file but the character for it. */
  if (job->tty && job->in >= 0) {
    ssize_t ignored = write(job->in, "\004", 1);
    (void)ignored;
  }
  CloseInput(job);
}

void PumpInput(struct Job *job) {
  while (job->in >= 0 && job->in_length > 0 && job->in_ready) {
    size_t done = WriteInput(job, job->in_buffer + job->in_head, job->in_length);
    job->in_head += done;
    job->in_length -= done;
    if (done == 0) break;
  }
  if (job->in_length == 0) job->in_head = 0;
  if (job->in_eof && job->in_length == 0 && job->in >= 0) EndInput(job);
}

bool TakeInput(struct Job *job, const uint8_t *bytes, size_t length) {
  if (length == 0) job->in_eof = true;
  if (job->in < 0) {
    Consumed(job, length);
    return true;
  }
  if (job->in_length == 0 && length > 0) {
    size_t done = WriteInput(job, bytes, length);
    bytes += done;
    length -= done;
  }
  if (length > 0) {
    if (job->in_length + length > BGE_WINDOW_INITIAL) return false;
    if (job->in_buffer == NULL) {
      void *map = mmap(NULL, BGE_WINDOW_INITIAL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (map == MAP_FAILED) return false;
      job->in_buffer = map;
    }
    if (job->in_head + job->in_length + length > BGE_WINDOW_INITIAL) {
      memmove(job->in_buffer, job->in_buffer + job->in_head, job->in_length);
      job->in_head = 0;
    }
    memcpy(job->in_buffer + job->in_head + job->in_length, bytes, length);
    job->in_length += length;
  }
  PumpInput(job);
  return true;
}

void CloseStreams(struct Job *job) {
  CloseInput(job);
  CloseOutput(job, 0);
  CloseOutput(job, 1);
}
