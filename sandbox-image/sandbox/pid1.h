/* PID 1 of a sandbox (`init`) and of a tool cell (`runner`): one thread, one epoll, bounded static tables.
 *
 *   pid1.c    setup, signals, the event loop
 *   link.c    the control stream to the gateway: dial or inherited, preamble, hello, frames in and out
 *   jobs.c    the table of jobs and what each does next
 *   streams.c a job's stdin and outputs, windows
 *   spawn.c   makes a job's processes, keeps a spare pair ready
 *   helper.c  what runs in a job's own processes until exec
 *   tree.c    looks at /proc, kills trees and orphans
 *   cell.c    what a runner adds to its cell: Landlock, limits
 *   probe.c   the round trip through gateway.sock
 */
#ifndef BEIGE_SANDBOX_PID1_H_
#define BEIGE_SANDBOX_PID1_H_

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

enum Mode { kInit, kRunner };

/* Runs as PID 1; returns only when it can't start (exit status). `fd` is the runner's control stream, `ids` the UID:GID
 * that it takes first, or NULL. */
int Pid1Main(enum Mode mode, int fd, const char *ids);

/* PID 1 never has a descriptor of this number or more: the kernel gives the lowest that is free, and a job takes four. */
enum { kMaxDescriptors = 2048 };

/* What an epoll event is about. The slot is a job's index, the epoch tells a slot's former user from its present one. */
enum Source { kFromSignals, kFromLink, kFromProbe, kFromControl, kFromStdin, kFromStdout, kFromStderr };

/* Registers `fd`, edge-triggered for jobs (a held output must not spin the loop), level-triggered for the rest. */
int Watch(int fd, uint32_t events, enum Source source, unsigned slot, uint32_t epoch);
void Rewatch(int fd, uint32_t events, enum Source source);

/* The secret of this sandbox's registration: 32 bytes in a page that a fork does not inherit. */
const uint8_t *RegistrationKey(void);
void WipeKey(void);

/* Limits as the engine gave them; jobs get these back after PID 1 raised its own. */
struct rlimit OriginalNofile(void);

/* SIGKILL for everything but PID 1, then reap for at most 200 ms. */
void KillEverything(void);
/* Collects every child that has ended. Returns false when there are no children at all. */
bool Reap(void);
/* True after a SIGTERM from outside: no new jobs. */
bool Stopping(void);
/* The control stream of a cell has closed: nothing may stay. */
_Noreturn void EndCell(void);

#endif
