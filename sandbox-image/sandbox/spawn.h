/* Makes a job's two processes: the helper, which adopts and reaps, and beneath it the one that becomes the program. */
#ifndef BEIGE_SANDBOX_SPAWN_H_
#define BEIGE_SANDBOX_SPAWN_H_

#include "jobs.h"

/* A request up to this size fits into one message to a spare; a larger one is inherited by a fresh pair. */
enum { kSpareRequest = 48 * 1024 };

struct Request {
  uint8_t *fields; /* NULL: a spare, the request comes later */
  uint32_t length;
  bool tty;
  uint16_t columns, rows;
};

/* Fills in the descriptors and the helper's pid of a zeroed job. Returns 0, or an errno with nothing left behind. */
int Spawn(struct Job *job, unsigned slot, const struct Request *request);
/* Makes a spare of a pooled job of which only the helper is left: a fork, and the end of a process, less than with a new pair. Returns 0, or
 * an errno with the streams closed. */
int Renew(struct Job *job, unsigned slot);
/* Hands a spare its request. Returns 0, or an errno when the spare is dead. */
int Hand(struct Job *spare, const struct Request *request);

#endif
