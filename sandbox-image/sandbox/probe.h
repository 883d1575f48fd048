/* The round trip through gateway.sock, asked for by the gateway on the control stream. A fresh connect by path is the point: only that
 * sees a mount that has gone stale. One at a time; a new one ends the old one as failed. */
#ifndef BEIGE_SANDBOX_PROBE_H_
#define BEIGE_SANDBOX_PROBE_H_

#include <stdint.h>

void ProbeStart(const uint8_t *nonce, uint32_t length);
void ProbeOnEvent(void);
void ProbeTick(int64_t now);
int64_t ProbeNextTime(void);
/* Forgets a probe without an answer (the control stream is gone). */
void ProbeCancel(void);

#endif
