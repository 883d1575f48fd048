#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helper.h"
#include "pid1.h"
#include "text.h"

#ifndef TIOCGPTPEER
#define TIOCGPTPEER 0x5441
#endif

struct Ends {
  int ours[3], theirs[3]; /* stdin, stdout, stderr; -1 = none */
  int control[2];         /* ours, theirs */
};

static void CloseAll(struct Ends *ends) {
  for (int i = 0; i < 3; i++) {
    if (ends->ours[i] >= 0) close(ends->ours[i]);
    if (ends->theirs[i] >= 0) close(ends->theirs[i]);
  }
  for (int i = 0; i < 2; i++)
    if (ends->control[i] >= 0) close(ends->control[i]);
}

static int OpenPipes(struct Ends *ends) {
  for (int i = 0; i < 3; i++) {
    int ends_of_pipe[2];
    if (pipe2(ends_of_pipe, O_CLOEXEC) != 0) return -1;
    ends->ours[i] = ends_of_pipe[i == 0 ? 1 : 0];
    ends->theirs[i] = ends_of_pipe[i == 0 ? 0 : 1];
    if (fcntl(ends->ours[i], F_SETFL, O_NONBLOCK) != 0) return -1;
  }
  return 0;
}

/* The other end by TIOCGPTPEER, which needs no path; a kernel without it (gVisor) has /dev/pts. */
static int OpenPeer(int master) {
  int peer = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (peer >= 0) return peer;
  int number;
  char path[40], digits[24];
  if (ioctl(master, (int)TIOCGPTN, &number) != 0) return -1;
  Join(path, sizeof path, "/dev/pts/", Decimal(digits, number), NULL);
  return open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static int OpenTerminal(struct Ends *ends, const struct Request *request) {
  int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (master < 0) return -1;
  ends->ours[0] = master;
  int unlock = 0;
  struct winsize size = {.ws_col = request->columns, .ws_row = request->rows};
  if (ioctl(master, TIOCSPTLCK, &unlock) != 0) return -1;
  if (request->columns != 0) ioctl(master, TIOCSWINSZ, &size);
  ends->theirs[0] = OpenPeer(master);
  if (ends->theirs[0] < 0) return -1;
  ends->ours[1] = fcntl(master, F_DUPFD_CLOEXEC, 3);
  return ends->ours[1] < 0 ? -1 : 0;
}

static int WatchStreams(const struct Job *job, unsigned slot) {
  uint32_t generation = job->generation;
  if (Watch(job->in, EPOLLOUT | EPOLLET, kFromStdin, slot, generation) != 0) return -1;
  if (Watch(job->out[0], EPOLLIN | EPOLLET, kFromStdout, slot, generation) != 0) return -1;
  return job->out[1] < 0 ? 0 : Watch(job->out[1], EPOLLIN | EPOLLET, kFromStderr, slot, generation);
}

static int WatchAll(const struct Job *job, unsigned slot) {
  if (Watch(job->control, EPOLLIN | EPOLLET, kFromControl, slot, job->generation) != 0) return -1;
  return WatchStreams(job, slot);
}

int Spawn(struct Job *job, unsigned slot, const struct Request *request) {
  struct Ends ends = {{-1, -1, -1}, {-1, -1, -1}, {-1, -1}};
  job->control = job->in = job->out[0] = job->out[1] = -1;
  int opened = request->tty ? OpenTerminal(&ends, request) : OpenPipes(&ends);
  /* Sequenced packets: a report or a request is one message, whole or not at all. */
  if (opened == 0) opened = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.control);
  pid_t helper = opened == 0 ? fork() : -1;
  if (helper < 0) {
    int error = errno;
    CloseAll(&ends);
    return error;
  }
  if (helper == 0) {
    struct HelperStart start = {{ends.theirs[0], ends.theirs[1], ends.theirs[2]}, ends.control[1], request};
    if (request->tty) start.stdio[1] = start.stdio[2] = start.stdio[0];
    HelperRun(&start);
  }
  for (int i = 0; i < 3; i++)
    if (ends.theirs[i] >= 0) close(ends.theirs[i]);
  close(ends.control[1]);
  job->helper = helper;
  job->control = ends.control[0];
  job->in = ends.ours[0];
  job->out[0] = ends.ours[1];
  job->out[1] = ends.ours[2];
  job->tty = request->tty;
  job->pooled = request->fields == NULL;
  job->in_ready = true;
  /* epoll refuses only without memory: then the closed control socket ends the pair, and the job is lost. */
  if (WatchAll(job, slot) != 0) shutdown(job->control, SHUT_RDWR);
  return 0;
}

/* One byte, and the three ends that become the next job's 0 to 2. */
static int SendEnds(int control, const int *theirs) {
  char byte = 0;
  struct iovec part = {&byte, 1};
  union {
    char bytes[CMSG_SPACE(3 * sizeof(int))];
    struct cmsghdr align;
  } space = {{0}};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space.bytes, .msg_controllen = sizeof space.bytes};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(3 * sizeof(int));
  memcpy(CMSG_DATA(head), theirs, 3 * sizeof(int));
  return sendmsg(control, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 ? 0 : -1;
}

int Renew(struct Job *job, unsigned slot) {
  struct Ends ends = {{-1, -1, -1}, {-1, -1, -1}, {-1, -1}};
  if (OpenPipes(&ends) != 0 || SendEnds(job->control, ends.theirs) != 0) {
    int error = errno;
    CloseAll(&ends);
    return error;
  }
  for (int i = 0; i < 3; i++) close(ends.theirs[i]);
  struct Job spare = {.generation = job->generation, .helper = job->helper, .control = job->control, .pooled = true, .in_ready = true};
  spare.in = ends.ours[0];
  spare.out[0] = ends.ours[1];
  spare.out[1] = ends.ours[2];
  *job = spare;
  if (WatchStreams(job, slot) != 0) shutdown(job->control, SHUT_RDWR);
  return 0;
}

int Hand(struct Job *spare, const struct Request *request) {
  ssize_t sent = send(spare->control, request->fields, request->length, MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent == (ssize_t)request->length ? 0 : errno;
}
