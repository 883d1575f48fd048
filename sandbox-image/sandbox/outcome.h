/* How a job ends: reports from its processes, deadlines, kills, and the one EXIT frame. */
#ifndef BEIGE_SANDBOX_OUTCOME_H_
#define BEIGE_SANDBOX_OUTCOME_H_

#include "jobs.h"

/* Moves one job on; may send its EXIT and free its slot. */
void Step(struct Job *job, int64_t now);
/* When Step wants to be called next, given the `now` of its last call. */
int64_t NextTime(const struct Job *job, int64_t now);

void ReadReports(struct Job *job);
/* Sends STARTED for jobs of people (not tool calls, which would pay for a frame that nobody reads). */
void AnnounceStart(const struct Job *job);
void StartKilling(struct Job *job, int64_t now);
void SendExit(uint32_t call, int how, int code, const char *text);
/* Frees the slot of a job whose helper is reaped. */
void Release(struct Job *job);
/* Lets go of a job that never was: its processes end by themselves, its slot with them. */
void Abandon(struct Job *job);

#endif
