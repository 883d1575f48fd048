/* Bytes between a job's descriptors and the control stream, within windows. */
#ifndef BEIGE_SANDBOX_STREAMS_H_
#define BEIGE_SANDBOX_STREAMS_H_

#include "jobs.h"

enum Pumped {
  kEof,    /* closed on the other side, everything is through */
  kEmpty,  /* nothing to read now */
  kHeld,   /* waits for credit */
  kNoRoom, /* waits for the control stream */
  kMore    /* its share of this round is used up */
};

/* Nobody listens: outputs are read and thrown away. */
bool Muted(const struct Job *job);
enum Pumped PumpOutput(struct Job *job, int stream);
/* Takes a STDIN frame. False when it exceeds the window. */
bool TakeInput(struct Job *job, const uint8_t *bytes, size_t length);
void PumpInput(struct Job *job);
void CloseInput(struct Job *job);
void CloseStreams(struct Job *job);

#endif
