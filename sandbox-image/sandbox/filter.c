#include "filter.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>

/* From <linux/filter.h>, <linux/seccomp.h> and <linux/audit.h>, which musl's include path lacks. */
struct Instruction {
  uint16_t code;
  uint8_t jump_true, jump_false;
  uint32_t k;
};
struct Program {
  unsigned short length;
  struct Instruction *filter;
};
struct SeccompData {
  int nr;
  uint32_t arch;
  uint64_t instruction_pointer;
  uint64_t args[6];
};

enum { kModeFilter = 2 };
enum { kLoad = 0x20, kAnd = 0x54, kJumpIfEqual = 0x15, kJumpIfAbove = 0x25, kJumpIfAnySet = 0x45, kReturn = 0x06 };
static const uint32_t kAllow = 0x7fff0000u;
static const uint32_t kRefuse = 0x00050000u | EPERM;
static const uint32_t kUnknownCall = 0x00050000u | ENOSYS;
static const uint32_t kNoFamily = 0x00050000u | EAFNOSUPPORT;

/* The numbers of the refused calls in one calling convention, lists ended by 0. */
struct Numbers {
  uint32_t pid[16];            /* the first argument is a pid */
  uint32_t priority, ioprio;   /* (which, who) */
  uint32_t trace[3];           /* (request, pid) */
};

static struct Instruction rules[256];
static unsigned short count;

static void Emit(uint16_t code, uint8_t jump_true, uint8_t jump_false, uint32_t k) {
  rules[count++] = (struct Instruction){code, jump_true, jump_false, k};
}

static void Load(size_t offset) { Emit(kLoad, 0, 0, (uint32_t)offset); }

/* A pid_t is the low half of an argument. The kernel drops the high half, so the filter must not look at it. */
static void LoadArgument(unsigned n) { Load(offsetof(struct SeccompData, args) + 8 * n); }

static void AnswerIfEqual(uint32_t value, uint32_t answer) {
  Emit(kJumpIfEqual, 0, 1, value);
  Emit(kReturn, 0, 0, answer);
}

static void RefuseIfEqual(uint32_t value) { AnswerIfEqual(value, kRefuse); }

/* Opens a rule for one number; CloseRule lets the call pass and makes other numbers jump over the rule. */
static unsigned short OpenRule(uint32_t number) {
  Emit(kJumpIfEqual, 0, 0, number);
  return count;
}

static void CloseRule(unsigned short opened) {
  Emit(kReturn, 0, 0, kAllow);
  rules[opened - 1].jump_false = (uint8_t)(count - opened);
}

static void RulePid(uint32_t number) {
  unsigned short rule = OpenRule(number);
  LoadArgument(0);
  RefuseIfEqual(1);
  CloseRule(rule);
}

/* `user` is the `which` that means all processes of a uid, PID 1 among them. */
static void RuleWho(uint32_t number, uint32_t user) {
  unsigned short rule = OpenRule(number);
  LoadArgument(0);
  RefuseIfEqual(user);
  LoadArgument(1);
  RefuseIfEqual(1);
  CloseRule(rule);
}

static void RuleTrace(uint32_t number) {
  unsigned short rule = OpenRule(number);
  LoadArgument(0);
  Emit(kJumpIfEqual, 3, 0, 0); /* PTRACE_TRACEME has no target */
  LoadArgument(1);
  RefuseIfEqual(1);
  CloseRule(rule);
}

/* Rules for one architecture; others jump over them with the architecture still loaded. */
static void Architecture(uint32_t arch, uint32_t mask, const struct Numbers *n) {
  unsigned short rule = OpenRule(arch);
  Load(offsetof(struct SeccompData, nr));
  if (mask != 0) Emit(kAnd, 0, 0, mask);
  for (size_t i = 0; n->pid[i] != 0; i++) RulePid(n->pid[i]);
  RuleWho(n->priority, 2);
  RuleWho(n->ioprio, 3);
  for (size_t i = 0; n->trace[i] != 0; i++) RuleTrace(n->trace[i]);
  CloseRule(rule);
}

static int Install(void) {
  struct Program program = {count, rules};
  int result = prctl(PR_SET_SECCOMP, kModeFilter, &program, 0, 0);
  count = 0;
  return result;
}

int InstallFilter(void) {
  Load(offsetof(struct SeccompData, arch));
  /* pid: prlimit64, sched_setaffinity, sched_setscheduler, sched_setattr, sched_setparam, pidfd_open, kill, tkill, tgkill,
   * rt_sigqueueinfo, rt_tgsigqueueinfo. The kernel itself drops most signals to a PID 1, gVisor does not. */
#if defined(__x86_64__)
  /* x32 shares the architecture and most numbers, with bit 30 set; some have numbers above 511. */
  static const struct Numbers kX86_64 = {{302, 203, 144, 314, 142, 434, 62, 200, 234, 129, 297, 524, 536}, 141, 251, {101, 521}};
  static const struct Numbers kI386 = {{340, 241, 156, 351, 154, 434, 37, 238, 270, 178, 335}, 97, 289, {26}};
  Architecture(0xc000003eu, ~0x40000000u, &kX86_64);
  Architecture(0x40000003u, 0, &kI386);
#elif defined(__aarch64__)
  static const struct Numbers kAarch64 = {{261, 122, 119, 274, 118, 434, 129, 130, 131, 138, 240}, 140, 30, {117}};
  static const struct Numbers kArm = {{369, 241, 156, 380, 154, 434, 37, 238, 268, 178, 363}, 97, 314, {26}};
  Architecture(0xc00000b7u, 0, &kAarch64);
  Architecture(0x40000028u, 0, &kArm);
#else
#error "add the system call numbers of this architecture"
#endif
  Emit(kReturn, 0, 0, kRefuse);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return Install();
}

/* CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
static const uint32_t kNewNamespaces = 0x7e020000u;

int InstallCellFilter(void) {
  /* unshare, setns, mount, umount2, pivot_root, chroot; open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr, open_tree_attr;
   * keyctl, add_key, request_key, bpf, perf_event_open, userfaultfd, io_uring_setup, io_uring_enter, io_uring_register; kexec_load,
   * kexec_file_load, init_module, finit_module, delete_module, reboot, swapon, swapoff, acct, quotactl, quotactl_fd, open_by_handle_at,
   * fanotify_init, syslog, settimeofday, clock_settime, clock_adjtime. */
#if defined(__x86_64__)
  const uint32_t kArch = 0xc000003eu;
  enum { kClone = 56, kSocket = 41, kSocketPair = 53, kIoctl = 16 };
  static const uint16_t kRefused[] = {272, 308, 165, 166, 155, 161, 428, 429, 430, 431, 432, 433, 442, 467, 250, 248, 249, 321, 298, 323, 425, 426, 427,
                                      246, 320, 175, 313, 176, 169, 167, 168, 163, 179, 443, 304, 300, 103, 164, 227, 305, 172, 173};
#elif defined(__aarch64__)
  const uint32_t kArch = 0xc00000b7u;
  enum { kClone = 220, kSocket = 198, kSocketPair = 199, kIoctl = 29 };
  static const uint16_t kRefused[] = {97, 268, 40, 39, 41, 51, 428, 429, 430, 431, 432, 433, 442, 467, 219, 217, 218, 280, 241, 282, 425, 426, 427,
                                      104, 294, 105, 273, 106, 142, 224, 225, 89, 60, 443, 265, 262, 116, 170, 112, 266};
#endif
  enum { kClone3 = 435, kTiocsti = 0x5412, kTioclinux = 0x541c };
  count = 0;
  Load(offsetof(struct SeccompData, arch));
  Emit(kJumpIfEqual, 1, 0, kArch);
  Emit(kReturn, 0, 0, kRefuse);
  Load(offsetof(struct SeccompData, nr));
  Emit(kJumpIfAbove, 0, 1, 0x3fffffffu); /* x32 */
  Emit(kReturn, 0, 0, kRefuse);
  for (size_t i = 0; i < sizeof kRefused / sizeof kRefused[0]; i++) RefuseIfEqual(kRefused[i]);
  /* Its flags lie in memory, out of a filter's sight; C libraries then use clone. */
  AnswerIfEqual(kClone3, kUnknownCall);
  unsigned short rule = OpenRule(kClone);
  LoadArgument(0);
  Emit(kJumpIfAnySet, 0, 1, kNewNamespaces);
  Emit(kReturn, 0, 0, kRefuse);
  CloseRule(rule);
  rule = OpenRule(kIoctl);
  LoadArgument(1);
  RefuseIfEqual(kTiocsti);
  RefuseIfEqual(kTioclinux);
  CloseRule(rule);
  const uint32_t kMakeSocket[] = {kSocket, kSocketPair};
  static const uint32_t kFamilies[] = {1, 2, 10, 16}; /* unix, inet, inet6, netlink: those that the namespaces divide */
  for (size_t i = 0; i < 2; i++) {
    rule = OpenRule(kMakeSocket[i]);
    LoadArgument(0);
    for (size_t j = 0; j < sizeof kFamilies / sizeof kFamilies[0]; j++) AnswerIfEqual(kFamilies[j], kAllow);
    Emit(kReturn, 0, 0, kNoFamily);
    CloseRule(rule);
  }
  Emit(kReturn, 0, 0, kAllow);
  return Install();
}
