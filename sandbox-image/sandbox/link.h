/* The control stream: one connection to the gateway at a time. Frames of a former connection are never sent on a later one:
 * senders remember LinkEpoch(). */
#ifndef BEIGE_SANDBOX_LINK_H_
#define BEIGE_SANDBOX_LINK_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* init: dial /beige/control.sock for ever. */
void LinkDial(void);
/* runner: speak on an inherited descriptor; its end ends the cell. Returns -1 with errno when `fd` is unusable. */
int LinkInherit(int fd);

void LinkOnEvent(uint32_t events);
/* Retries and gives up when it is time. */
void LinkTick(int64_t now);
/* When LinkTick wants to be called next; INT64_MAX for never. */
int64_t LinkNextTime(void);

/* True between REGISTERED and the end of the connection. */
bool LinkUp(void);
/* Counts connections; changes when one is lost. */
uint32_t LinkEpoch(void);

/* Bytes of stream data that may be queued now; control frames have room of their own. */
size_t LinkRoom(void);
/* Space for a data frame's payload of up to `length` <= LinkRoom() bytes, and its completion with the bytes really there. */
uint8_t *LinkReserve(size_t length);
void LinkCommit(size_t length, uint32_t call, uint8_t kind, uint8_t stream);
/* Queues a small frame of two parts; either may be empty. A peer that lets these pile up is dropped. */
void LinkSend(uint32_t call, uint8_t kind, uint8_t stream, const void *first, size_t first_length, const void *second, size_t second_length);
void LinkFlush(void);

#endif
