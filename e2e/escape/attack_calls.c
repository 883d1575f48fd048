/* Attacks by protocol v2: many calls at once, names that are no names, output that nobody reads. */
#include "attacks.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "protocol/v2.h"

static unsigned char out[4 << 20];
static size_t length;

static void Put(const void *bytes, size_t count) {
  memcpy(out + length, bytes, count);
  length += count;
}
static void Put32(unsigned value) {
  unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
  Put(bytes, 4);
}
static void Field(unsigned char tag, const char *text, size_t count) {
  Put(&tag, 1);
  Put32((unsigned)count);
  Put(text, count);
}
static void Call(unsigned id, const char *tool, size_t tool_length, const char *argument) {
  static const unsigned char rest[4] = {BGE_CALL, 0, 0, 0};
  size_t payload = 5 + tool_length + (argument == NULL ? 0 : 5 + strlen(argument));
  Put32((unsigned)payload);
  Put32(id);
  Put(rest, 4);
  Field(BGE_TAG_TOOL, tool, tool_length);
  if (argument != NULL) Field(BGE_TAG_ARG, argument, strlen(argument));
}
static void Preamble(void) {
  static const unsigned char preamble[16] = {'B', 'G', 'E', '2', BGE_VERSION_MIN, BGE_VERSION_MAX, BGE_ROLE_CALLER};
  Put(preamble, sizeof preamble);
}

/* Counts the exits that come back for `want` calls; how[i] = number of exits with BGE_HOW_* i. */
static int Exits(int fd, int want, int how[8], int seconds) {
  static unsigned char in[1 << 20];
  size_t have = 0, at = BGE_PREAMBLE_BYTES;
  int seen = 0;
  struct timeval limit = {seconds, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  while (seen < want) {
    ssize_t n = recv(fd, in + have, sizeof in - have, 0);
    if (n <= 0) break;
    have += (size_t)n;
    while (have >= at + BGE_HEADER_BYTES) {
      size_t payload = in[at] | (size_t)in[at + 1] << 8 | (size_t)in[at + 2] << 16;
      if (have < at + BGE_HEADER_BYTES + payload) break;
      if (in[at + 8] == BGE_EXIT) {
        seen++;
        if (in[at + BGE_HEADER_BYTES] < 8) how[in[at + BGE_HEADER_BYTES]]++;
      }
      at += BGE_HEADER_BYTES + payload;
    }
    if (at > sizeof in / 2) {
      memmove(in, in + at, have - at);
      have -= at;
      at = 0;
    }
  }
  return seen;
}

/* `count` calls in one write on one connection. */
int ManyCalls(const char *tool, const char *argument, int count) {
  int fd = Connect("/beige/gateway.sock"), how[8] = {0};
  Preamble();
  for (int i = 1; i <= count; i++) Call((unsigned)i, tool, strlen(tool), argument);
  size_t sent = 0;
  while (sent < length) {
    ssize_t n = send(fd, out + sent, length - sent, MSG_NOSIGNAL);
    if (n <= 0) break;
    sent += (size_t)n;
  }
  int seen = Exits(fd, count, how, 40);
  printf("answers: %d, ran: %d, denied: %d, other: %d\n", seen, how[BGE_HOW_EXITED], how[BGE_HOW_DENIED], seen - how[BGE_HOW_EXITED] - how[BGE_HOW_DENIED]);
  return seen == count ? 0 : 1;
}

/* No name but the granted one reaches a tool. */
int ToolNames(const char *tool) {
  char names[24][300];
  size_t lengths[24];
  int count = 0, how[8] = {0};
  const char *const forms[] = {"./%s", "/%s", "../%s", "/tools/bin/%s", "%s/", "%s/.", " %s", "%s ", "%s\n", "x/../%s", "%s;%s", "-%s", "\xef\xbb\xbf%s", "%s.sh"};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    snprintf(names[count], sizeof names[count], forms[i], tool, tool);
    lengths[count] = strlen(names[count]);
    count++;
  }
  snprintf(names[count], sizeof names[count], "%s", tool); /* with its NUL, and with one before it */
  lengths[count] = strlen(tool) + 1;
  count++;
  names[count][0] = '\0';
  snprintf(names[count] + 1, sizeof names[count] - 1, "%s", tool);
  lengths[count] = strlen(tool) + 1;
  count++;
  snprintf(names[count], sizeof names[count], "%s", tool);
  names[count][0] = (char)(names[count][0] - 32); /* upper case */
  lengths[count] = strlen(tool);
  count++;
  names[count][0] = '\0';
  lengths[count++] = 0;
  strcpy(names[count], "exec");
  lengths[count++] = 4;
  Preamble();
  for (int i = 0; i < count; i++) Call((unsigned)i + 1, names[i], lengths[i], "x");
  int fd = Connect("/beige/gateway.sock");
  send(fd, out, length, MSG_NOSIGNAL);
  int seen = Exits(fd, count, how, 20);
  printf("names: %d, answers: %d, ran: %d\n", count, seen, how[BGE_HOW_EXITED] + how[BGE_HOW_SIGNALED] + how[BGE_HOW_TIMEOUT]);
  return seen == count && how[BGE_HOW_EXITED] + how[BGE_HOW_SIGNALED] + how[BGE_HOW_TIMEOUT] == 0 ? 1 : 0;
}

/* Holds connections to the control socket open and silent, new ones as fast as they are closed. */
int CrowdControl(int count, int seconds) {
  int fds[1000];
  if (count > 1000) count = 1000;
  for (int i = 0; i < count; i++) fds[i] = -1;
  for (int round = 0; round < seconds * 100; round++) {
    for (int i = 0; i < count; i++) {
      char byte;
      if (fds[i] >= 0 && recv(fds[i], &byte, 1, MSG_DONTWAIT) == 0) {
        close(fds[i]);
        fds[i] = -1;
      }
      if (fds[i] < 0) fds[i] = ConnectNow("/beige/control.sock");
    }
    usleep(10000);
  }
  return 1;
}
