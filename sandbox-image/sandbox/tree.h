/* Who descends from whom, read from /proc. */
#ifndef BEIGE_SANDBOX_TREE_H_
#define BEIGE_SANDBOX_TREE_H_

#include <stdint.h>
#include <sys/types.h>

/* Opens /proc once, so that later looks need one descriptor only. Returns -1 with errno. */
int TreeOpen(void);

/* Makes the next call below read /proc anew. Until then they share one look: with many jobs to end, a look for each would take seconds. */
void TreeForget(void);

/* Sends `signal` to every living descendant of `root`, whatever session or group it has moved to; `root` itself is spared.
 * Returns how many there were. New ones may be born meanwhile: repeat until 0. */
unsigned TreeSignal(pid_t root, int signal);

/* Bytes of memory that every living descendant of `root` has now, together. What several share is counted for each, until TreeMeasure. */
uint64_t TreeMemory(pid_t root);
/* For the look that is in use: what several share is divided among them. That costs the kernel a walk through all of their memory. */
void TreeMeasure(void);

/* SIGKILL to every child of PID 1 that is no job's helper and to all below it, stopped first. Returns how many were alive. */
unsigned TreeKillOrphans(void);

#endif
