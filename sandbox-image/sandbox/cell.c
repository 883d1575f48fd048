#include "cell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "jobs.h"

/* All processes of a cell together, and how often they are looked at. */
enum { kMemoryMiB = 2048, kLook = 100, kAfterCloseLook = 500, kNice = 10 };
static bool limited;
static int64_t look_at = INT64_MAX;

/* From <linux/landlock.h>, which musl's include path lacks. */
enum { kVersion = 1, kPathBeneath = 1 };
enum {
  kExecute = 1 << 0,
  kWriteFile = 1 << 1,
  kReadFile = 1 << 2,
  kReadDir = 1 << 3,
  kMakeChar = 1 << 6,
  kMakeBlock = 1 << 11,
  kMakeSymlink = 1 << 12, /* the last of version 1 */
  kRefer = 1 << 13,       /* version 2 */
  kTruncate = 1 << 14,    /* version 3 */
  kDeviceIoctl = 1 << 15  /* version 5 */
};
enum { kScopeAbstractSockets = 1, kScopeSignals = 2 }; /* version 6 */

struct Ruleset {
  uint64_t files, network, scoped;
};
struct __attribute__((packed)) Beneath {
  uint64_t allowed;
  int32_t parent;
};

/* A path that this cell lacks needs no rule. */
static int Allow(int ruleset, const char *path, uint64_t rights) {
  struct Beneath beneath = {rights, open(path, O_PATH | O_CLOEXEC)};
  if (beneath.parent < 0) return errno == ENOENT ? 0 : -1;
  int result = (int)syscall(SYS_landlock_add_rule, ruleset, kPathBeneath, &beneath, 0);
  close(beneath.parent);
  return result;
}

static int AllowAll(int ruleset, uint64_t known) {
  const uint64_t kRead = kExecute | kReadFile | kReadDir;
  const uint64_t write = known & ~(uint64_t)(kMakeChar | kMakeBlock | kDeviceIoctl);
  static const char *const kWritable[] = {"/data", "/scratch", "/tmp", "/workspace", "/dev/shm"};
  if (Allow(ruleset, "/", kRead) != 0) return -1;
  for (size_t i = 0; i < sizeof kWritable / sizeof kWritable[0]; i++)
    if (Allow(ruleset, kWritable[i], write) != 0) return -1;
  if (Allow(ruleset, "/proc", known & (kRead | kWriteFile | kTruncate)) != 0) return -1;
  return Allow(ruleset, "/dev", known & (kRead | kWriteFile | kTruncate | kDeviceIoctl));
}

int RestrictFiles(void) {
  long version = syscall(SYS_landlock_create_ruleset, NULL, 0, kVersion);
  if (version < 2) return 0;
  struct Ruleset rules = {.files = kMakeSymlink * 2 - 1 + kRefer};
  if (version >= 3) rules.files |= kTruncate;
  if (version >= 5) rules.files |= kDeviceIoctl;
  if (version >= 6) rules.scoped = kScopeAbstractSockets | kScopeSignals;
  /* An older kernel takes the longer structure as long as what it does not know is 0. */
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
  if (ruleset < 0) return -1;
  int result = AllowAll(ruleset, rules.files);
  if (result == 0) result = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (result == 0) result = (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
  close(ruleset);
  return result;
}

int TakeIds(uint32_t uid, uint32_t gid) {
  /* The folder itself; what an earlier cell with another uid made in it stays as it is. */
  if (chown("/data", uid, gid) != 0 && errno != ENOENT) return -1;
  if (syscall(SYS_setgroups, 0, NULL) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) return -1;
  /* What is left of capabilities is what a program with capabilities of its own would inherit; there is none, but why keep it. */
  const uint32_t kVersion3[2] = {0x20080522, 0};
  const uint32_t kNone[6] = {0};
  if (syscall(SYS_capset, kVersion3, kNone) != 0) return -1;
  /* A change of uid clears both. */
  prctl(PR_SET_PDEATHSIG, 9);
  prctl(PR_SET_DUMPABLE, 0);
  /* From another uid than 0 to it there is no way back, with or without a mistake above. */
  if (setresuid(0, 0, 0) == 0 || getuid() != uid || geteuid() != uid) {
    errno = EPERM;
    return -1;
  }
  return 0;
}

static void Lower(int resource, rlim_t bound) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  if (limit.rlim_max > bound) limit.rlim_max = bound;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  setrlimit(resource, &limit);
}

/* Since Linux 5.14 within the user namespace, so neither the host's processes nor other cells' are in it. Before that all of the uid's
 * counted, which may be more than any bound of a cell. */
static bool CountsProcessesHere(void) {
  struct utsname system;
  if (uname(&system) != 0) return false;
  char *rest;
  long major = strtol(system.release, &rest, 10);
  long minor = *rest == '.' ? strtol(rest + 1, NULL, 10) : 0;
  return major > 5 || (major == 5 && minor >= 14);
}

void LimitCell(void) {
  umask(022); /* the gateway's own lets nobody read */
  /* Private writable memory of one process. Not the address space, of which runtimes reserve far more than they use. */
  Lower(RLIMIT_DATA, (rlim_t)2 << 30);
  if (CountsProcessesHere()) Lower(RLIMIT_NPROC, 512);
  Lower(RLIMIT_CORE, 0);
  limited = true;
}

void GiveWay(void) {
  if (limited) setpriority(PRIO_PROCESS, 0, kNice);
}

void CellTick(int64_t now) {
  if (!limited) return;
  if (!JobsRun()) {
    look_at = INT64_MAX;
  } else if (look_at == INT64_MAX) {
    look_at = now + kLook;
  } else if (now >= look_at) {
    look_at = now + (JobsHoldMemory((uint64_t)kMemoryMiB << 20, now) ? kAfterCloseLook : kLook);
  }
}

int64_t CellNextTime(void) { return look_at; }
