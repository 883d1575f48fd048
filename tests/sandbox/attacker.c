/* What hostile or unlucky code does inside a sandbox. Each mode prints what happened; the tests judge. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void Report(const char *what, long result) {
  printf("%s: %s\n", what, result >= 0 ? "allowed" : errno == EPERM ? "EPERM" : strerror(errno));
}

#if defined(__x86_64__)
static long Call32(long number, long a, long b, long c, long d) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d) : "memory", "r8", "r9", "r10", "r11");
  int narrow = (int)result;
  if (narrow < 0 && narrow > -4096) {
    errno = -narrow;
    return -1;
  }
  return result;
}
#endif

/* Every call of the filter, on pid 1, with rubbish in the high half of the pid where the kernel ignores it. */
static int AttackPid1(void) {
  const long kOne = (long)0x7fffffff00000001;
  Report("prlimit64", syscall(SYS_prlimit64, 1L, RLIMIT_NOFILE, NULL, NULL));
  Report("prlimit64 high", syscall(SYS_prlimit64, kOne, RLIMIT_NOFILE, NULL, NULL));
  Report("sched_setaffinity", syscall(SYS_sched_setaffinity, 1L, 0L, NULL));
  Report("sched_setscheduler", syscall(SYS_sched_setscheduler, 1L, 0L, NULL));
  Report("sched_setattr", syscall(SYS_sched_setattr, 1L, NULL, 0L));
  Report("sched_setparam", syscall(SYS_sched_setparam, 1L, NULL));
  Report("setpriority process", syscall(SYS_setpriority, PRIO_PROCESS, 1L, 19L));
  Report("setpriority group", syscall(SYS_setpriority, PRIO_PGRP, 1L, 19L));
  Report("setpriority user", syscall(SYS_setpriority, PRIO_USER, 0L, 19L));
  Report("ioprio_set process", syscall(SYS_ioprio_set, 1L, 1L, 3 << 13));
  Report("ioprio_set user", syscall(SYS_ioprio_set, 3L, (long)getuid(), 3 << 13));
  Report("ptrace attach", syscall(SYS_ptrace, PTRACE_ATTACH, 1L, 0L, 0L));
  Report("ptrace seize", syscall(SYS_ptrace, PTRACE_SEIZE, kOne, 0L, 0L));
  Report("pidfd_open", syscall(SYS_pidfd_open, 1L, 0L));
#if defined(__x86_64__)
  Report("i386 prlimit64", Call32(340, 1, RLIMIT_NOFILE, 0, 0));
  Report("i386 sched_setaffinity", Call32(241, 1, 0, 0, 0));
  Report("i386 sched_setscheduler", Call32(156, 1, 0, 0, 0));
  Report("i386 sched_setattr", Call32(351, 1, 0, 0, 0));
  Report("i386 sched_setparam", Call32(154, 1, 0, 0, 0));
  Report("i386 setpriority", Call32(97, PRIO_PROCESS, 1, 19, 0));
  Report("i386 ioprio_set", Call32(289, 1, 1, 3 << 13, 0));
  Report("i386 ptrace", Call32(26, PTRACE_ATTACH, 1, 0, 0));
  Report("i386 pidfd_open", Call32(434, 1, 0, 0, 0));
  Report("x32 prlimit64", syscall(0x40000000L + 302, 1L, RLIMIT_NOFILE, NULL, NULL));
  Report("x32 ptrace", syscall(0x40000000L + 521, PTRACE_ATTACH, 1L, 0L, 0L));
  Report("x32 pidfd_open", syscall(0x40000000L + 434, 1L, 0L));
#endif
  return 0;
}

static int TryFiles(void) {
  static const char *const kFiles[] = {"/proc/1/mem", "/proc/1/environ", "/proc/1/exe", "/proc/1/maps", "/beige/bin/beige-sandbox"};
  for (size_t i = 0; i < sizeof kFiles / sizeof kFiles[0]; i++) {
    int fd = open(kFiles[i], O_RDONLY);
    char byte;
    printf("%s: %s\n", kFiles[i], fd >= 0 && read(fd, &byte, 1) == 1 ? "read" : "refused");
  }
  int seen = 0;
  for (int fd = 0; fd < 64; fd++) {
    char path[32], target[64];
    snprintf(path, sizeof path, "/proc/1/fd/%d", fd);
    seen += readlink(path, target, sizeof target) >= 0 || open(path, O_RDONLY) >= 0;
  }
  printf("/proc/1/fd: %s\n", seen > 0 ? "read" : "refused");
  return 0;
}

/* What the filter of a tool cell takes from everybody. The arguments are such that without it most would get as far as another error. */
static int LeaveCell(void) {
  static const struct {
    const char *name;
    long number;
  } kCalls[] = {{"unshare user", SYS_unshare}, {"setns", SYS_setns}, {"mount", SYS_mount}, {"umount", SYS_umount2}, {"pivot_root", SYS_pivot_root},
                {"chroot", SYS_chroot}, {"open_tree", 428}, {"move_mount", 429}, {"fsopen", 430}, {"fsconfig", 431}, {"fsmount", 432}, {"fspick", 433},
                {"mount_setattr", 442}, {"open_tree_attr", 467}, {"keyctl", SYS_keyctl}, {"add_key", SYS_add_key}, {"request_key", SYS_request_key},
                {"bpf", SYS_bpf}, {"perf_event_open", SYS_perf_event_open}, {"userfaultfd", SYS_userfaultfd}, {"io_uring_setup", 425},
                {"io_uring_enter", 426}, {"io_uring_register", 427}, {"kexec_load", SYS_kexec_load}, {"kexec_file_load", SYS_kexec_file_load},
                {"init_module", SYS_init_module}, {"finit_module", SYS_finit_module}, {"delete_module", SYS_delete_module}, {"reboot", SYS_reboot},
                {"swapon", SYS_swapon}, {"swapoff", SYS_swapoff}, {"acct", SYS_acct}, {"quotactl", SYS_quotactl}, {"quotactl_fd", 443},
                {"open_by_handle_at", SYS_open_by_handle_at}, {"fanotify_init", SYS_fanotify_init}, {"syslog", SYS_syslog},
                {"settimeofday", SYS_settimeofday}, {"clock_settime", SYS_clock_settime}, {"clock_adjtime", SYS_clock_adjtime}};
  for (size_t i = 0; i < sizeof kCalls / sizeof kCalls[0]; i++)
    Report(kCalls[i].name, syscall(kCalls[i].number, kCalls[i].number == SYS_unshare ? 0x10000000L : 0L, 0L, 0L, 0L, 0L, 0L));
  static const struct {
    const char *name;
    long flag;
  } kSpaces[] = {{"clone mount", 0x20000}, {"clone cgroup", 0x2000000}, {"clone uts", 0x4000000}, {"clone ipc", 0x8000000},
                 {"clone user", 0x10000000}, {"clone pid", 0x20000000}, {"clone net", 0x40000000}};
  for (size_t i = 0; i < sizeof kSpaces / sizeof kSpaces[0]; i++) {
    long pid = syscall(SYS_clone, kSpaces[i].flag | SIGCHLD, 0L, 0L, 0L, 0L);
    if (pid == 0) _exit(0);
    Report(kSpaces[i].name, pid);
  }
#if defined(__x86_64__)
  Report("i386 getpid", Call32(20, 0, 0, 0, 0));
  Report("x32 getpid", syscall(0x40000000L + SYS_getpid));
#endif
  return 0;
}

/* And what a tool can go on doing. clone3 is to be unknown, not refused, so that C libraries turn to clone. */
static int StayInCell(void) {
  Report("clone3", syscall(435, NULL, 0L));
  for (int family = 1; family < 45; family++) {
    int fd = socket(family, SOCK_DGRAM, 0);
    if (fd < 0) fd = socket(family, SOCK_RAW, 0);
    if (fd < 0) fd = socket(family, SOCK_SEQPACKET, 0);
    if (fd < 0) fd = socket(family, SOCK_STREAM, 0);
    if (fd >= 0) printf("family %d\n", family);
    close(fd);
  }
  pid_t child = fork();
  if (child == 0) _exit(0);
  Report("fork", child);
  return 0;
}

/* The same calls on oneself and on one's own child must work. */
static int UseOnOwn(void) {
  struct rlimit limit;
  cpu_set_t cpus;
  Report("getrlimit", getrlimit(RLIMIT_NOFILE, &limit));
  Report("prlimit self", syscall(SYS_prlimit64, (long)getpid(), RLIMIT_NOFILE, NULL, &limit));
  Report("setpriority self", setpriority(PRIO_PROCESS, 0, 15));
  Report("setpriority own group", setpriority(PRIO_PGRP, 0, 15));
  Report("ioprio_set self", syscall(SYS_ioprio_set, 1L, 0L, 3 << 13));
  sched_getaffinity(0, sizeof cpus, &cpus);
  Report("sched_setaffinity self", sched_setaffinity(0, sizeof cpus, &cpus));
  pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 1, NULL, NULL); /* the pid is ignored, so 1 must not matter */
    raise(SIGSTOP);
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Report("traceme", WIFSTOPPED(status) ? 0 : -1);
  long word;
  errno = 0;
  word = ptrace(PTRACE_PEEKUSER, child, NULL, NULL);
  (void)word;
  Report("peek child", errno == 0 ? 0 : -1);
  Report("pidfd_open child", syscall(SYS_pidfd_open, (long)child, 0L));
  Report("prlimit child", syscall(SYS_prlimit64, (long)child, RLIMIT_CORE, NULL, &limit));
  ptrace(PTRACE_CONT, child, NULL, NULL);
  waitpid(child, &status, 0);
  Report("child ended by itself", WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : -1);
  return 0;
}

/* With a forged origin: si_pid 0 claims to come from outside. */
static long QueueTo(int directory, pid_t pid, int number) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_code = SI_QUEUE;
  info.si_signo = number;
  if (directory >= 0) return syscall(SYS_pidfd_send_signal, (long)directory, (long)number, &info, 0L);
  return syscall(SYS_rt_sigqueueinfo, (long)pid, (long)number, &info);
}

/* Signals to PID 1 in every way; at last with the uid's signal queue full, so that the kernel can't say where one came from. An open
 * directory of /proc serves as a pidfd. */
static int SignalPid1(void) {
  int pid1 = open("/proc/1", O_RDONLY | O_DIRECTORY);
  Report("kill", kill(1, SIGTERM));
  Report("tkill", syscall(SYS_tkill, 1L, (long)SIGTERM));
  Report("tgkill", syscall(SYS_tgkill, 1L, 1L, (long)SIGTERM));
  Report("sigqueue", QueueTo(-1, 1, SIGTERM));
  Report("kill -9", kill(1, SIGKILL));
  Report("kill -STOP", kill(1, SIGSTOP));
#if defined(__x86_64__)
  Report("i386 kill", Call32(37, 1, SIGTERM, 0, 0));
#endif
  printf("pidfd: %s\n", syscall(SYS_pidfd_send_signal, (long)pid1, (long)SIGTERM, NULL, 0L) == 0 ? "sent" : strerror(errno));
  printf("pidfd, forged: %s\n", QueueTo(pid1, 1, SIGTERM) == 0 ? "sent" : strerror(errno));
  syscall(SYS_pidfd_send_signal, (long)pid1, (long)SIGKILL, NULL, 0L);
  syscall(SYS_pidfd_send_signal, (long)pid1, (long)SIGSTOP, NULL, 0L);
  syscall(SYS_pidfd_send_signal, (long)pid1, (long)SIGINT, NULL, 0L);
  sigset_t set;
  sigfillset(&set);
  sigprocmask(SIG_BLOCK, &set, NULL);
  long queued = 0;
  while (QueueTo(-1, getpid(), SIGRTMIN) == 0) queued++;
  printf("own queue: %s after %s\n", errno == EAGAIN ? "full" : strerror(errno), queued > 0 ? "some" : "none");
  printf("pidfd, queue full: %s\n", QueueTo(pid1, 1, SIGTERM) == 0 ? "sent" : strerror(errno));
  return 0;
}

static int LeaveZombies(int count) {
  for (int i = 0; i < count; i++) {
    pid_t pid = fork();
    if (pid == 0) {
      /* A grandchild each, orphaned at once. */
      if (i % 2 == 0 && fork() == 0) _exit(0);
      _exit(0);
    }
    if (pid < 0) return 1;
  }
  return 0;
}

/* A process that is a new one all the time: each child lives on, each parent ends. */
static int RunAway(void) {
  printf("running\n");
  fflush(stdout);
  while (1) {
    pid_t pid = fork();
    if (pid > 0) _exit(0);
    setsid();
  }
}

/* A bomb that never gives up: whatever room there is, it takes. */
static _Noreturn void ForkBomb(void) {
  printf("up\n");
  fflush(stdout);
  for (;;)
    if (fork() < 0) usleep(1000);
}

static int WritePattern(long length) {
  for (long i = 0; i < length; i++) putchar_unlocked((int)(i * 131 >> 3 & 0xff));
  return fflush(stdout) == 0 ? 0 : 1;
}

static int ByValue(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

/* Spawns argv[0] and waits, `rounds` times; prints p10, p50 and p95 in microseconds. */
static int Time(long rounds, char **argv) {
  static int64_t took[100000];
  if (rounds < 1 || rounds > 100000) return 1;
  for (long i = 0; i < rounds; i++) {
    struct timespec begin, end;
    pid_t pid;
    int status;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0 || waitpid(pid, &status, 0) != pid || status != 0) return 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    took[i] = (end.tv_sec - begin.tv_sec) * 1000000000LL + end.tv_nsec - begin.tv_nsec;
  }
  qsort(took, (size_t)rounds, sizeof took[0], ByValue);
  printf("%.1f %.1f %.1f\n", (double)took[rounds / 10] / 1000, (double)took[rounds / 2] / 1000, (double)took[rounds * 95 / 100] / 1000);
  return 0;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  long number = argc > 2 ? atol(argv[2]) : 0;
  if (strcmp(mode, "noop") == 0) return 0;
  if (strcmp(mode, "pid1") == 0) return AttackPid1();
  if (strcmp(mode, "files") == 0) return TryFiles();
  if (strcmp(mode, "own") == 0) return UseOnOwn();
  if (strcmp(mode, "leave") == 0) return LeaveCell();
  if (strcmp(mode, "stay") == 0) return StayInCell();
  if (strcmp(mode, "signals") == 0) return SignalPid1();
  if (strcmp(mode, "zombies") == 0) return LeaveZombies((int)number);
  if (strcmp(mode, "bomb") == 0) ForkBomb();
  if (strcmp(mode, "run-away") == 0) return RunAway();
  if (strcmp(mode, "time") == 0 && argc > 3) return Time(number, argv + 3);
  if (strcmp(mode, "pattern") == 0) return WritePattern(number);
  if (strcmp(mode, "kill-helper") == 0) {
    kill(getppid(), SIGKILL);
    pause();
  }
  if (strcmp(mode, "lost-bomb") == 0) {
    kill(getppid(), SIGKILL);
    ForkBomb();
  }
  if (strcmp(mode, "stop-helper") == 0) {
    kill(getppid(), SIGSTOP);
    pause();
  }
  return 99;
}
