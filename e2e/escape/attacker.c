/* What a rogue agent would run inside its sandbox. One attack a call: `attacker NAME [ARGS]`. Exit status 0 = the attack worked,
 * 1 = it was refused (errno is printed), 2 = bad usage. Static, so that it runs in any image. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attacks.h"

int Verdict(const char *what, long result) {
  if (result >= 0) {
    printf("%s: worked\n", what);
    return 0;
  }
  printf("%s: refused: %s\n", what, strerror(errno));
  return 1;
}

static int Dial(const char *path, int flags) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  socklen_t length = sizeof address;
  if (path[0] == '@') {
    address.sun_path[0] = 0;
    length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
  }
  if (connect(fd, (struct sockaddr *)&address, length) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

int Connect(const char *path) { return Dial(path, 0); }
int ConnectNow(const char *path) { return Dial(path, SOCK_NONBLOCK); }

static int Ptrace(void) {
  int bad = Verdict("ptrace attach", ptrace(PTRACE_ATTACH, 1, 0, 0)) == 0;
  bad |= Verdict("ptrace seize", ptrace(PTRACE_SEIZE, 1, 0, 0)) == 0;
  return bad ? 0 : 1;
}

static int Memory(void) {
  int bad = Verdict("open /proc/1/mem", open("/proc/1/mem", O_RDWR)) == 0;
  char target[200];
  bad |= Verdict("readlink /proc/1/fd/0", readlink("/proc/1/fd/0", target, sizeof target)) == 0;
  bad |= Verdict("open /proc/1/fd/2", open("/proc/1/fd/2", O_WRONLY)) == 0;
  bad |= Verdict("open /proc/1/environ", open("/proc/1/environ", O_RDONLY)) == 0;
  bad |= Verdict("open /proc/1/exe", open("/proc/1/exe", O_RDONLY)) == 0;
  char byte;
  struct iovec local = {&byte, 1}, remote = {(void *)0x400000, 1};
  bad |= Verdict("process_vm_readv", process_vm_readv(1, &local, 1, &remote, 1, 0)) == 0;
  return bad ? 0 : 1;
}

/* x32 and the numbers themselves: glibc and musl wrappers would hide them. */
static int Scheduling(void) {
  struct rlimit one = {1, 1};
  cpu_set_t cpu;
  CPU_ZERO(&cpu);
  CPU_SET(0, &cpu);
  struct sched_param parameter = {0};
  int bad = Verdict("prlimit64 nofile of pid 1", syscall(SYS_prlimit64, 1, RLIMIT_NOFILE, &one, NULL)) == 0;
  bad |= Verdict("sched_setaffinity of pid 1", syscall(SYS_sched_setaffinity, 1, sizeof cpu, &cpu)) == 0;
  bad |= Verdict("sched_setscheduler of pid 1", syscall(SYS_sched_setscheduler, 1, SCHED_IDLE, &parameter)) == 0;
  bad |= Verdict("setpriority of pid 1", syscall(SYS_setpriority, PRIO_PROCESS, 1, 19)) == 0;
  bad |= Verdict("setpriority of the user", syscall(SYS_setpriority, PRIO_USER, getuid(), 19)) == 0;
  bad |= Verdict("setpriority of group 1", syscall(SYS_setpriority, PRIO_PGRP, 1, 19)) == 0;
  bad |= Verdict("ioprio_set of pid 1", syscall(SYS_ioprio_set, 1, 1, (3 << 13))) == 0;
#ifdef __x86_64__
  bad |= Verdict("x32 prlimit64 of pid 1", syscall(0x40000000 | SYS_prlimit64, 1, RLIMIT_NOFILE, &one, NULL)) == 0;
#ifdef __x86_64__
  long result;
  /* int 0x80: i386 number 340 is prlimit64; pointers above 4 GiB do not matter, the filter judges the pid first. */
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(340), "b"(1), "c"(RLIMIT_NOFILE), "d"(0), "S"(0) : "memory", "r8", "r9", "r10", "r11");
  errno = result < 0 ? (int)-result : 0;
  bad |= Verdict("i386 prlimit64 of pid 1", result) == 0;
#endif
#endif
  return bad ? 0 : 1;
}

/* Signals never reach PID 1 unless it handles them; what counts is that it goes on, which the test sees. */
static int Signals(void) {
  for (int number = 1; number < 32; number++) kill(1, number);
  union sigval value = {.sival_int = 1};
  sigqueue(1, SIGTERM, value);
  sigqueue(1, SIGCHLD, value);
  return 1;
}

static int PidFd(void) { return Verdict("pidfd_open 1", syscall(SYS_pidfd_open, 1, 0)); }

static int SecondClaimant(const char *path) {
  static const unsigned char preamble[16] = {'B', 'G', 'E', '2', 2, 2, 2, 0};
  unsigned char hello[12 + 37] = {37, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 10, 32, 0, 0, 0};
  int worked = 0;
  for (int i = 0; i < 20; i++) {
    int fd = Connect(path);
    if (fd < 0) continue;
    memset(hello + 17, i, 32);
    send(fd, preamble, sizeof preamble, MSG_NOSIGNAL);
    send(fd, hello, sizeof hello, MSG_NOSIGNAL);
    struct timeval limit = {2, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    unsigned char answer[256];
    size_t have = 0;
    ssize_t n;
    while (have < sizeof answer && (n = recv(fd, answer + have, sizeof answer - have, 0)) > 0) have += (size_t)n;
    if (have >= 16 + 12 && answer[16 + 8] == 13) worked = 1; /* REGISTERED */
    close(fd);
  }
  printf("second claimant: %s\n", worked ? "registered" : "refused");
  return worked ? 0 : 1;
}

static int ForkBomb(int seconds) {
  time_t end = time(NULL) + seconds;
  signal(SIGCHLD, SIG_IGN);
  while (time(NULL) < end) {
    if (fork() == 0) {
      setsid();
      while (time(NULL) < end)
        if (fork() < 0) usleep(1000);
      _exit(0);
    }
  }
  return 1;
}

static int EatMemory(void) {
  for (;;) {
    char *block = malloc(1 << 20);
    if (block == NULL) return 1;
    memset(block, 1, 1 << 20);
  }
}

static int EatInotify(void) {
  int n = 0;
  while (inotify_init1(IN_CLOEXEC) >= 0) n++;
  printf("inotify instances: %d\n", n);
  pause();
  return 1;
}

static int Flood(const char *path, int count, int seconds) {
  int open_now = 0;
  for (int i = 0; i < count; i++) {
    int fd = Connect(path);
    if (fd < 0) break;
    open_now++;
  }
  printf("connections: %d\n", open_now);
  fflush(stdout);
  sleep((unsigned)seconds);
  return 1;
}

/* An endless line, and answers that are never read. */
static int EndlessLine(const char *path) {
  int fd = Connect(path);
  char block[65536];
  memset(block, '[', sizeof block);
  block[0] = '{';
  long sent = 0;
  struct timeval limit = {5, 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  while (sent < 64L << 20) {
    ssize_t n = send(fd, block, sizeof block, MSG_NOSIGNAL);
    if (n <= 0) break;
    sent += n;
  }
  printf("taken: %ld\n", sent);
  return sent >= (64L << 20) ? 0 : 1;
}

static int Namespaces(void) {
  int bad = Verdict("unshare user", unshare(CLONE_NEWUSER)) == 0;
  bad |= Verdict("unshare mount", unshare(CLONE_NEWNS)) == 0;
  bad |= Verdict("mount", mount("none", "/tmp", "tmpfs", 0, NULL)) == 0;
  bad |= Verdict("chroot", chroot("/tmp")) == 0;
  bad |= Verdict("setuid 0", setuid(0)) == 0;
  bad |= Verdict("setgid 0", setgid(0)) == 0;
  bad |= Verdict("mknod", mknod("/tmp/disk", S_IFBLK | 0600, 0x800)) == 0;
  bad |= Verdict("keyctl", syscall(SYS_keyctl, 0, -3, 1)) == 0;
  bad |= Verdict("bpf", syscall(SYS_bpf, 0, NULL, 0)) == 0;
  return bad ? 0 : 1;
}

/* An abstract name of one's own; the kernel keeps these by network namespace. */
static int Listen(const char *name, int seconds) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path + 1, name + 1, sizeof address.sun_path - 2);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))) != 0 || listen(fd, 5) != 0) return 2;
  printf("listening\n");
  sleep((unsigned)seconds);
  return 1;
}

/* Every number that could be a process of somebody else's: one that takes a signal and is not in our /proc. */
static int KillRange(int from) {
  int reached = 0;
  for (int pid = from; pid < 200000; pid++) {
    char name[40];
    if (kill(pid, 0) != 0) continue;
    snprintf(name, sizeof name, "/proc/%d", pid);
    if (access(name, F_OK) != 0 && kill(pid, 0) == 0) reached += printf("reached %d\n", pid) > 0;
  }
  return reached ? 0 : 1;
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  const char *name = argc > 1 ? argv[1] : "";
  if (!strcmp(name, "ptrace")) return Ptrace();
  if (!strcmp(name, "memory")) return Memory();
  if (!strcmp(name, "scheduling")) return Scheduling();
  if (!strcmp(name, "signals")) return Signals();
  if (!strcmp(name, "pidfd")) return PidFd();
  if (!strcmp(name, "claim")) return SecondClaimant(argc > 2 ? argv[2] : "/beige/control.sock");
  if (!strcmp(name, "forkbomb") && argc > 2) return ForkBomb(atoi(argv[2]));
  if (!strcmp(name, "eat-memory")) return EatMemory();
  if (!strcmp(name, "eat-inotify")) return EatInotify();
  if (!strcmp(name, "namespaces")) return Namespaces();
  if (!strcmp(name, "connect") && argc > 2) return Verdict(argv[2], Connect(argv[2]));
  if (!strcmp(name, "flood") && argc > 4) return Flood(argv[2], atoi(argv[3]), atoi(argv[4]));
  if (!strcmp(name, "endless") && argc > 2) return EndlessLine(argv[2]);
  if (!strcmp(name, "write-everywhere")) return WriteEverywhere();
  if (!strcmp(name, "find-text") && argc > 2) return FindText(argv[2]);
  if (!strcmp(name, "find-sockets")) return FindSockets();
  if (!strcmp(name, "shm") && argc > 3) return SharedMemory(argv[2], atoi(argv[3]));
  if (!strcmp(name, "whoami")) return WhoAmI();
  if (!strcmp(name, "listen") && argc > 3) return Listen(argv[2], atoi(argv[3]));
  if (!strcmp(name, "calls") && argc > 4) return ManyCalls(argv[2], argv[3], atoi(argv[4]));
  if (!strcmp(name, "names") && argc > 2) return ToolNames(argv[2]);
  if (!strcmp(name, "crowd") && argc > 3) return CrowdControl(atoi(argv[2]), atoi(argv[3]));
  if (!strcmp(name, "kill-all") && argc > 2) return KillRange(atoi(argv[2]));
  fprintf(stderr, "usage: attacker NAME [ARGS]\n");
  return 2;
}
