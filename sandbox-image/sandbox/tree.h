/* Who descends from whom, read from /proc. */
#ifndef BEIGE_SANDBOX_TREE_H_
#define BEIGE_SANDBOX_TREE_H_

#include <sys/types.h>

/* Opens /proc once, so that later looks need one descriptor only. Returns -1 with errno. */
int TreeOpen(void);

/* Makes the next call below read /proc anew. Until then they share one look: with many jobs to end, a look for each would take seconds. */
void TreeForget(void);

/* Sends `signal` to every living descendant of `root`, whatever session or group it has moved to; `root` itself is spared.
 * Returns how many there were. New ones may be born meanwhile: repeat until 0. */
unsigned TreeSignal(pid_t root, int signal);

/* SIGKILL to every child of PID 1 that is no job's helper and to all below it, stopped first. Returns how many were alive. */
unsigned TreeKillOrphans(void);

#endif
