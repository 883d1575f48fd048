/* What runs in a job's own processes, after the fork and before the program. */
#ifndef BEIGE_SANDBOX_HELPER_H_
#define BEIGE_SANDBOX_HELPER_H_

#include <stdint.h>

#include "spawn.h"

enum ReportKind {
  kReady = 1, /* value: pid of the process that becomes the program; it leads its own session by now */
  kFailed,    /* value: exit code as a shell's; text: why */
  kEnded      /* value: status of waitpid; others: whether children were left */
};

/* One message on the control socket. Whoever runs in the sandbox could kill these processes, never forge their words: the socket is
 * in no other process and these are not dumpable. */
struct Report {
  uint32_t kind;
  int32_t value;
  uint32_t others;
  char text[kTextBytes];
};

struct HelperStart {
  int stdio[3];
  int control;
  const struct Request *request;
};

_Noreturn void HelperRun(const struct HelperStart *start);
/* Wipes what the last BecomeProgram was handed, which a helper that serves another job would keep. */
void ForgetRequest(void);
/* The process beneath the helper: waits for the request if there is none yet, then becomes the program. */
_Noreturn void BecomeProgram(const struct Request *request);

/* Where the control socket lies in both processes. */
enum { kHelperControl = 3 };
void SendReport(enum ReportKind kind, int value, bool others, const char *text);

#endif
