/* What a tool cell's first process adds to the cell that bubblewrap made. */
#ifndef BEIGE_SANDBOX_CELL_H_
#define BEIGE_SANDBOX_CELL_H_

#include <stdint.h>

/* Landlock, for this process and all that come from it: nothing can be written outside /data, /scratch, /tmp, /workspace, /dev and /proc, no
 * device made anywhere, and no abstract socket or process outside the cell be reached. Returns 0, also on a kernel without Landlock (or
 * one whose Landlock can't rename between directories), or -1 with errno. */
int RestrictFiles(void);

/* Takes these ids for good: the cell was made by root of its user namespace, whose capabilities are gone after this. /data goes along.
 * Returns 0, or -1 with errno. */
int TakeIds(uint32_t uid, uint32_t gid);

/* Bounds of memory and processes that need no privilege. Jobs inherit them. */
void LimitCell(void);

/* In a cell, for a job's processes before there is a program: whatever else the machine has to do comes first. */
void GiveWay(void);

/* No rlimit bounds the sum over processes, so the runner looks at it while there are jobs, and ends the largest. Nothing outside a cell. */
void CellTick(int64_t now);
int64_t CellNextTime(void);

#endif
