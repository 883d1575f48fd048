#include "pid1.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cell.h"
#include "filter.h"
#include "jobs.h"
#include "link.h"
#include "probe.h"
#include "text.h"
#include "tree.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum { kEvents = 256, kKeyBytes = 32, kStopGrace = 2000, kOrphanRescan = 5, kReapAtMost = 8192 };

static int poller = -1, signals = -1;
static uint8_t *key;
static struct rlimit original_nofile;
static int64_t stop_at;                  /* when a stopping sandbox ends at the latest; 0 = not stopping */
static int64_t orphans_at = INT64_MAX;   /* when to look for orphans */

const uint8_t *RegistrationKey(void) { return key; }
void WipeKey(void) { explicit_bzero(key, kKeyBytes); }
struct rlimit OriginalNofile(void) { return original_nofile; }
bool Stopping(void) { return stop_at != 0; }

static uint64_t Tag(enum Source source, unsigned slot, uint32_t epoch) {
  return (uint64_t)epoch << 32 | (uint64_t)slot << 8 | (uint64_t)source;
}

int Watch(int fd, uint32_t events, enum Source source, unsigned slot, uint32_t epoch) {
  struct epoll_event event = {.events = events, .data.u64 = Tag(source, slot, epoch)};
  return epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
}

void Rewatch(int fd, uint32_t events, enum Source source) {
  struct epoll_event event = {.events = events, .data.u64 = Tag(source, 0, 0)};
  epoll_ctl(poller, EPOLL_CTL_MOD, fd, &event);
}

static void HuntOrphans(void) {
  /* Until a look finds none: those that die hand on their children. */
  orphans_at = TreeKillOrphans() == 0 ? INT64_MAX : NowMs() + kOrphanRescan;
}

bool Reap(void) {
  for (int i = 0; i < kReapAtMost; i++) {
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);
    if (pid == 0) return true;
    if (pid < 0) return errno != ECHILD;
    /* A helper that was killed leaves its tree to PID 1, and whatever else ends here may have siblings. */
    if (!JobsHelperEnded(pid) || WIFSIGNALED(status)) orphans_at = 0;
  }
  return true;
}

void KillEverything(void) {
  kill(-1, SIGKILL);
  JobsAllKilled();
  const struct timespec kPause = {.tv_nsec = 1000000};
  for (int i = 0; i < 200 && Reap(); i++) nanosleep(&kPause, NULL);
}

void EndCell(void) {
  kill(-1, SIGKILL);
  _exit(0);
}

/* Only a sender that this pid namespace does not know may stop the sandbox: its pid shows as 0. The filter refuses kill and its like, but
 * pidfd_send_signal takes an open /proc/1 as well. Its callers can claim any pid, but not SI_USER. */
static void OnSignals(void) {
  struct signalfd_siginfo infos[8];
  ssize_t got;
  while ((got = read(signals, infos, sizeof infos)) > 0) {
    for (size_t i = 0; i < (size_t)got / sizeof infos[0]; i++) {
      if (infos[i].ssi_signo != SIGTERM || infos[i].ssi_code != SI_USER || infos[i].ssi_pid != 0 || Stopping()) continue;
      stop_at = NowMs() + kStopGrace;
      JobsDropSpares();
      kill(-1, SIGTERM);
    }
  }
  if (!Reap() && Stopping()) stop_at = 1;
}

static void EndIfStopped(int64_t now) {
  if (!Stopping() || now < stop_at) return;
  LinkFlush(); /* the exits of the last jobs */
  kill(-1, SIGKILL);
  _exit(0);
}

static void Dispatch(const struct epoll_event *event) {
  int source = (int)(event->data.u64 & 0xff);
  unsigned slot = (unsigned)(event->data.u64 >> 8 & 0xffffff);
  uint32_t epoch = (uint32_t)(event->data.u64 >> 32);
  if (source == kFromSignals) OnSignals();
  else if (source == kFromLink) LinkOnEvent(event->events);
  else if (source == kFromProbe) ProbeOnEvent();
  else JobsOnEvent(source, slot, epoch, event->events);
}

static int Timeout(int64_t now) {
  int64_t next = JobsNextTime(now);
  if (LinkNextTime() < next) next = LinkNextTime();
  if (ProbeNextTime() < next) next = ProbeNextTime();
  if (CellNextTime() < next) next = CellNextTime();
  if (orphans_at < next) next = orphans_at;
  if (Stopping() && stop_at < next) next = stop_at;
  if (next == INT64_MAX) return -1;
  return next <= now ? 0 : next - now > 60000 ? 60000 : (int)(next - now);
}

static _Noreturn void Loop(void) {
  static struct epoll_event events[kEvents];
  int64_t now = NowMs();
  while (true) {
    int count = epoll_wait(poller, events, kEvents, Timeout(now));
    TreeForget();
    for (int i = 0; i < count; i++) Dispatch(&events[i]);
    now = NowMs();
    if (now >= orphans_at) HuntOrphans();
    LinkTick(now);
    ProbeTick(now);
    CellTick(now);
    JobsStep(now);
    LinkFlush();
    EndIfStopped(now);
    JobsRefill(now); /* last: nobody waits for it */
  }
}

static int Fatal(const char *what) {
  Say("sandbox: ", what, ": ", strerror(errno), NULL);
  return 1;
}

static int MakeKey(void) {
  key = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (key == MAP_FAILED) return -1;
  madvise(key, 4096, MADV_WIPEONFORK); /* helpers wipe it themselves as well */
  return getrandom(key, kKeyBytes, 0) == kKeyBytes ? 0 : -1;
}

static void RaiseLimits(void) {
  getrlimit(RLIMIT_NOFILE, &original_nofile);
  struct rlimit limit = {original_nofile.rlim_max, original_nofile.rlim_max};
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_SIGPENDING, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_SIGPENDING, &limit);
}

/* Only these two are blocked. All others keep their default action, which the kernel drops for a PID 1, so nothing can pile up. */
static int TakeSignals(void) {
  sigset_t set;
  struct sigaction action = {.sa_flags = SA_NOCLDSTOP};
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, NULL);
  signal(SIGPIPE, SIG_IGN);
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_SETMASK, &set, NULL);
  signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  return signals < 0 ? -1 : Watch(signals, EPOLLIN, kFromSignals, 0, 0);
}

/* "UID:GID" */
static int TakeIdsOf(const char *text) {
  char uid[12];
  const char *colon = strchr(text, ':');
  if (colon == NULL || (size_t)(colon - text) >= sizeof uid) return Fatal("--as wants UID:GID");
  memcpy(uid, text, (size_t)(colon - text));
  uid[colon - text] = '\0';
  int64_t user = ParseDecimal(uid, UINT32_MAX - 1), group = ParseDecimal(colon + 1, UINT32_MAX - 1);
  if (user <= 0 || group < 0) errno = EINVAL;
  return user <= 0 || group < 0 || TakeIds((uint32_t)user, (uint32_t)group) != 0 ? Fatal("can't take the ids of the cell") : 0;
}

int Pid1Main(enum Mode mode, int fd, const char *ids) {
  /* kill(-1) by anything but a PID 1 would end all that its user runs. */
  if (getpid() != 1) {
    char digits[24];
    Say(mode == kInit ? "init" : "runner", ": must be process 1 of a container or cell, is ", Decimal(digits, getpid()), NULL);
    return 2;
  }
  prctl(PR_SET_DUMPABLE, 0);
  if (ids != NULL && TakeIdsOf(ids) != 0) return 1;
  /* Descriptors of our own must not land on 0 to 2: helpers overwrite those. */
  for (int i = 0; i < 3; i++)
    if (fcntl(i, F_GETFD) < 0) open("/dev/null", O_RDWR);
  RaiseLimits();
  if (MakeKey() != 0) return Fatal("no random key");
  if (InstallFilter() != 0) return Fatal("can't install the seccomp filter");
  if (TreeOpen() != 0) return Fatal("/proc");
  poller = epoll_create1(EPOLL_CLOEXEC);
  if (poller < 0 || TakeSignals() != 0) return Fatal("no event loop");
  if (mode == kInit) LinkDial();
  else if (LinkInherit(fd) != 0) return Fatal("the control descriptor");
  if (mode == kRunner) {
    LimitCell();
    if (RestrictFiles() != 0) return Fatal("can't restrict the cell by Landlock");
    if (InstallCellFilter() != 0) return Fatal("can't install the cell's seccomp filter");
  }
  Loop();
}
