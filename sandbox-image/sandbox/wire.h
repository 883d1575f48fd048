/* Encoding and decoding of protocol v2 (protocol/v2.h): preambles, frame headers, fields. Pure, no I/O. */
#ifndef BEIGE_SANDBOX_WIRE_H_
#define BEIGE_SANDBOX_WIRE_H_

#include <stddef.h>
#include <stdint.h>

#include "protocol/v2.h"

/* One received frame; `payload` points into the receive buffer and is valid until the handler returns. */
struct Frame {
  uint32_t length;
  uint32_t call;
  uint8_t kind;
  uint8_t stream;
  uint8_t *payload;
};

struct Field {
  uint8_t tag;
  uint32_t length;
  uint8_t *bytes;
};

enum { kFieldHeaderBytes = 5 };

void Put16(uint8_t *out, uint16_t value);
void Put32(uint8_t *out, uint32_t value);
uint16_t Get16(const uint8_t *in);
uint32_t Get32(const uint8_t *in);

void PutPreamble(uint8_t out[BGE_PREAMBLE_BYTES], uint16_t role);
void PutHeader(uint8_t out[BGE_HEADER_BYTES], uint32_t length, uint32_t call, uint8_t kind, uint8_t stream);
/* Appends one field at `at` and returns the new end, or `at` unchanged when it would pass `capacity`. */
size_t PutField(uint8_t *buffer, size_t capacity, size_t at, uint8_t tag, const void *bytes, size_t length);

/* 1: the answer fits `role`; 0: the other side speaks no version of ours; -1: not this protocol. */
int CheckPreamble(const uint8_t in[BGE_PREAMBLE_BYTES], uint16_t role);

/* Decodes the frame at the start of `buffer`. 1: complete; 0: more bytes are needed; -1: longer than the protocol allows. */
int NextFrame(uint8_t *buffer, size_t length, struct Frame *frame);

/* Steps through fields. 1: `field` is set and `*at` moved on; 0: end; -1: malformed. */
int NextField(uint8_t *payload, size_t length, size_t *at, struct Field *field);

#endif
