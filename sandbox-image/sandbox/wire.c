#include "wire.h"

#include <string.h>

void Put16(uint8_t *out, uint16_t value) {
  out[0] = (uint8_t)value;
  out[1] = (uint8_t)(value >> 8);
}

void Put32(uint8_t *out, uint32_t value) {
  Put16(out, (uint16_t)value);
  Put16(out + 2, (uint16_t)(value >> 16));
}

uint16_t Get16(const uint8_t *in) { return (uint16_t)(in[0] | in[1] << 8); }

uint32_t Get32(const uint8_t *in) { return (uint32_t)Get16(in) | (uint32_t)Get16(in + 2) << 16; }

void PutPreamble(uint8_t out[BGE_PREAMBLE_BYTES], uint16_t role) {
  memset(out, 0, BGE_PREAMBLE_BYTES);
  memcpy(out, BGE_MAGIC, 4);
  out[4] = BGE_VERSION_MIN;
  out[5] = BGE_VERSION_MAX;
  Put16(out + 6, role);
  Put32(out + 8, BGE_FEATURES);
}

void PutHeader(uint8_t out[BGE_HEADER_BYTES], uint32_t length, uint32_t call, uint8_t kind, uint8_t stream) {
  Put32(out, length);
  Put32(out + 4, call);
  out[8] = kind;
  out[9] = stream;
  Put16(out + 10, 0);
}

size_t PutField(uint8_t *buffer, size_t capacity, size_t at, uint8_t tag, const void *bytes, size_t length) {
  if (capacity - at < kFieldHeaderBytes || capacity - at - kFieldHeaderBytes < length) return at;
  buffer[at] = tag;
  Put32(buffer + at + 1, (uint32_t)length);
  memcpy(buffer + at + kFieldHeaderBytes, bytes, length);
  return at + kFieldHeaderBytes + length;
}

int CheckPreamble(const uint8_t in[BGE_PREAMBLE_BYTES], uint16_t role) {
  if (memcmp(in, BGE_MAGIC, 4) != 0 || Get16(in + 6) != role) return -1;
  if (in[4] == 0) return 0;
  return in[4] == in[5] && in[4] >= BGE_VERSION_MIN && in[4] <= BGE_VERSION_MAX ? 1 : -1;
}

int NextFrame(uint8_t *buffer, size_t length, struct Frame *frame) {
  if (length < BGE_HEADER_BYTES) return 0;
  frame->length = Get32(buffer);
  if (frame->length > BGE_MAX_PAYLOAD) return -1;
  frame->call = Get32(buffer + 4);
  frame->kind = buffer[8];
  frame->stream = buffer[9];
  frame->payload = buffer + BGE_HEADER_BYTES;
  return length - BGE_HEADER_BYTES >= frame->length;
}

int NextField(uint8_t *payload, size_t length, size_t *at, struct Field *field) {
  if (*at == length) return 0;
  if (length - *at < kFieldHeaderBytes) return -1;
  field->tag = payload[*at];
  field->length = Get32(payload + *at + 1);
  field->bytes = payload + *at + kFieldHeaderBytes;
  if (length - *at - kFieldHeaderBytes < field->length) return -1;
  *at += kFieldHeaderBytes + field->length;
  return 1;
}
