// What a rogue agent may send at its gateway, for SECONDS: flood pipeline|lines|connects|slow SECONDS. Prints how many bytes it got rid of.
// spin does nothing to the gateway.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { kConnections = 64, kChunk = 64 << 10 };
static char chunk[kChunk], sink[kChunk];
static struct pollfd fds[kConnections];

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int Connect(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/beige/gateway.sock"};
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect(fd, (struct sockaddr*)&address, sizeof address) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* how = argv[1];
  const double end = Now() + atof(argv[2]);
  static const char request[] = "{\"type\":\"tool_request\",\"tool\":\"not-granted\",\"args\":[\"get\",\"a\"]}\n";
  const size_t whole = kChunk / (sizeof request - 1) * (sizeof request - 1);
  for (size_t i = 0; i < whole; ++i) chunk[i] = request[i % (sizeof request - 1)];
  const int lines = strcmp(how, "lines") == 0, connects = strcmp(how, "connects") == 0, slow = strcmp(how, "slow") == 0;
  while (strcmp(how, "spin") == 0 && Now() < end) {
  }
  if (lines) memset(chunk, ' ', kChunk);
  unsigned long long sent = 0;
  size_t at[kConnections] = {0};
  for (int i = 0; i < kConnections; ++i) fds[i].fd = -1;
  while (Now() < end) {
    for (int i = 0; i < kConnections; ++i) {
      if (fds[i].fd >= 0 && !connects) continue;
      if (fds[i].fd >= 0) close(fds[i].fd);
      fds[i].fd = Connect();
      fds[i].events = slow ? POLLOUT : POLLIN | POLLOUT;
      at[i] = 0;
      sent += connects;
    }
    if (connects || poll(fds, kConnections, 100) <= 0) continue;
    for (int i = 0; i < kConnections; ++i) {
      int gone = (fds[i].revents & (POLLERR | POLLHUP)) != 0;
      if (!gone && (fds[i].revents & POLLIN)) gone = read(fds[i].fd, sink, sizeof sink) == 0;
      if (!gone && (fds[i].revents & POLLOUT)) {
        const size_t size = lines ? kChunk : whole;
        const ssize_t n = send(fds[i].fd, chunk + at[i], size - at[i], MSG_NOSIGNAL);
        if (n > 0) {
          sent += (unsigned long long)n;
          at[i] = (at[i] + (size_t)n) % size;
        }
        gone = n < 0 && errno != EAGAIN;
      }
      if (gone) {
        close(fds[i].fd);
        fds[i].fd = -1;
      }
    }
  }
  printf("{\"sent\":%llu}\n", sent);
  return 0;
}
