#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cell.h"
#include "pid1.h"
#include "text.h"

/* Room for the pointers of the longest request, mostly untouched. */
enum { kStackBytes = 16 * 1024 * 1024 };

void SendReport(enum ReportKind kind, int value, bool others, const char *text) {
  struct Report report = {.kind = (uint32_t)kind, .value = value, .others = others};
  Join(report.text, sizeof report.text, text, NULL);
  while (send(kHelperControl, &report, sizeof report, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

/* PID 1's descriptors are copies here: a pipe of another job that stays open would keep that job from ever ending. */
static void KeepOnlyOwn(const struct HelperStart *start) {
  for (int i = 0; i < 3; i++) dup2(start->stdio[i], i);
  dup2(start->control, kHelperControl);
  fcntl(kHelperControl, F_SETFD, FD_CLOEXEC);
  if (syscall(SYS_close_range, kHelperControl + 1, ~0u, 0) == 0) return;
  for (int fd = kHelperControl + 1; fd < kMaxDescriptors; fd++) close(fd); /* gVisor of 2024 */
}

/* The kernel shall end jobs before PID 1 or a bystander. The file is writable only while the process is dumpable; the key is wiped. */
static void OfferToOomKiller(void) {
  prctl(PR_SET_DUMPABLE, 1);
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0) {
    ssize_t ignored = write(fd, "700", 3);
    (void)ignored;
    close(fd);
  }
  prctl(PR_SET_DUMPABLE, 0);
}

/* A signal whose details the kernel could not keep, because the uid's queue is full, looks as if it came from outside. With a lower limit
 * for everybody else PID 1's own signals always find room. */
static void LeaveSignalsToPid1(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_SIGPENDING, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return;
  limit.rlim_max -= limit.rlim_max / 8;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_SIGPENDING, &limit);
}

/* Returns true when the program has ended and left nothing behind. */
static bool Adopt(pid_t leader) {
  while (true) {
    int status;
    pid_t pid = waitpid(-1, &status, __WALL);
    if (pid < 0) {
      if (errno == EINTR) continue;
      return false; /* nothing is left below */
    }
    if (pid != leader) continue;
    /* Reap what is already dead, so that "others" means the living. */
    pid_t other;
    do {
      other = waitpid(-1, NULL, WNOHANG | __WALL);
    } while (other > 0);
    SendReport(kEnded, status, other == 0, "");
    if (other < 0) return true;
  }
}

/* Waits for the streams of the next job, which land on 0 to 2 because those are closed, or for PID 1 to let go. Ending would take longer
 * than all of the job's own end, on a processor that PID 1 and the caller want now: so not before PID 1 has sent EXIT. */
static bool ServeAgain(void) {
  char byte;
  struct iovec part = {&byte, 1};
  union {
    char bytes[CMSG_SPACE(3 * sizeof(int))];
    struct cmsghdr align;
  } space;
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space.bytes, .msg_controllen = sizeof space.bytes};
  ssize_t got;
  ForgetRequest();
  do {
    got = recvmsg(kHelperControl, &message, 0);
  } while (got < 0 && errno == EINTR);
  if (got != 1) return false;
  const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  static const int kWanted[3] = {0, 1, 2};
  return head != NULL && head->cmsg_len == CMSG_LEN(sizeof kWanted) && memcmp(CMSG_DATA(head), kWanted, sizeof kWanted) == 0;
}

/* Shares the helper's memory until exec, with a stack of its own: no page has to be copied, and none torn down on the way to the program.
 * The two never run at once where it matters: the helper waits, with all signals blocked, for this one to end. */
static int RunLeader(void *argument) {
  const struct HelperStart *start = argument;
  setsid();
  if (start->request->tty) ioctl(0, TIOCSCTTY, 0);
  BecomeProgram(start->request);
}

static pid_t StartLeader(const struct HelperStart *start) {
  static void *stack = MAP_FAILED; /* free again once a program has replaced its process */
  if (stack == MAP_FAILED) {
    stack = mmap(NULL, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) return -1;
  }
  return clone(RunLeader, (char *)stack + kStackBytes, CLONE_VM | SIGCHLD, (void *)(uintptr_t)start);
}

void HelperRun(const struct HelperStart *start) {
  static const struct Request kNone;
  static const struct HelperStart kAgain = {.control = kHelperControl, .request = &kNone};
  WipeKey();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL); /* only SIGKILL ends a helper */
  KeepOnlyOwn(start);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_NAME, "beige-job");
  LeaveSignalsToPid1();
  OfferToOomKiller();
  GiveWay();
  pid_t leader;
  do {
    leader = StartLeader(start);
    if (leader < 0) {
      char text[kTextBytes];
      Join(text, sizeof text, "can't start a process: ", strerror(errno), NULL);
      SendReport(kFailed, 126, false, text);
      _exit(0);
    }
    for (int fd = 0; fd < 3; fd++) close(fd);
    start = &kAgain;
  } while (Adopt(leader) && ServeAgain());
  _exit(0);
}
