#include "tree.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jobs.h"
#include "text.h"

/* pid_max of most systems; a sandbox's pids limit is far below. What does not fit is seen when the first ones are gone. */
enum { kMaxProcesses = 32768 };
enum { kOrphan = 1, kStopPasses = 50 };
static uint64_t page = 4096;

struct Entry { /* struct linux_dirent64 */
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[];
};

static struct {
  pid_t pid, parent, root; /* root: the one that it was found to descend from */
  uint64_t memory;
  bool alive;
} processes[kMaxProcesses];
static size_t count;
static bool fresh;
static int proc = -1;

void TreeForget(void) { fresh = false; }

int TreeOpen(void) {
  page = (uint64_t)sysconf(_SC_PAGESIZE);
  proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return proc < 0 ? -1 : 0;
}

/* Returns false when there is nothing to read. */
static bool ReadOf(const char *name, const char *file, char *text, size_t size) {
  char path[40];
  Join(path, sizeof path, name, file, NULL);
  int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = read(fd, text, size - 1);
  close(fd);
  if (got <= 0) return false;
  text[got] = '\0';
  return true;
}

/* "PID (NAME) STATE PARENT ..."; the name may hold anything, also ')'. The 24th is the number of resident pages. */
static bool ReadStat(const char *name, pid_t *parent, bool *alive, uint64_t *memory) {
  char stat[512];
  if (!ReadOf(name, "/stat", stat, sizeof stat)) return false;
  const char *at = strrchr(stat, ')');
  if (at == NULL || strlen(at) < 5) return false;
  *alive = at[2] != 'Z' && at[2] != 'X';
  *parent = (pid_t)strtol(at + 4, NULL, 10);
  for (int field = 2; field < 24 && at != NULL; field++) at = strchr(at + 1, ' ');
  *memory = at == NULL ? 0 : strtoull(at, NULL, 10) * page;
  return true;
}

static void Scan(void) {
  static _Alignas(struct Entry) char entries[8192];
  if (fresh) return;
  fresh = true;
  count = 0;
  lseek(proc, 0, SEEK_SET);
  while (true) {
    long got = syscall(SYS_getdents64, proc, entries, sizeof entries);
    if (got <= 0) return;
    for (long at = 0; at < got;) {
      const struct Entry *entry = (const struct Entry *)(const void *)(entries + at);
      at += entry->length;
      int64_t pid = ParseDecimal(entry->name, INT32_MAX);
      if (pid <= 1 || count == kMaxProcesses) continue;
      processes[count].pid = (pid_t)pid;
      processes[count].root = 0;
      if (ReadStat(entry->name, &processes[count].parent, &processes[count].alive, &processes[count].memory)) count++;
    }
  }
}

/* /proc lists pids in ascending order. */
static pid_t RootOf(pid_t pid) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (processes[middle].pid == pid) return processes[middle].root;
    if (processes[middle].pid < pid) low = middle + 1;
    else high = middle;
  }
  return 0;
}

static void MarkTree(pid_t root) {
  Scan();
  bool grew = true;
  while (grew) { /* twice as a rule: parents mostly have the lower pid */
    grew = false;
    for (size_t i = 0; i < count; i++) {
      if (processes[i].root != 0 || processes[i].pid == root) continue;
      if (processes[i].parent != root && RootOf(processes[i].parent) != root) continue;
      processes[i].root = root;
      grew = true;
    }
  }
}

uint64_t TreeMemory(pid_t root) {
  MarkTree(root);
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++)
    if (processes[i].root == root && processes[i].alive) sum += processes[i].memory;
  return sum;
}

void TreeMeasure(void) {
  Scan();
  for (size_t i = 0; i < count; i++) {
    char name[24], text[1024];
    /* Not readable where a program may not be read itself: then the larger figure stays. */
    if (!ReadOf(Decimal(name, processes[i].pid), "/smaps_rollup", text, sizeof text)) continue;
    const char *share = strstr(text, "\nPss:");
    if (share != NULL) processes[i].memory = strtoull(share + 5, NULL, 10) * 1024;
  }
}

unsigned TreeSignal(pid_t root, int signal) {
  unsigned found = 0;
  MarkTree(root);
  for (size_t i = 0; i < count; i++) {
    if (processes[i].root != root || !processes[i].alive) continue;
    found++;
    kill(processes[i].pid, signal);
  }
  return found;
}

/* Marks the children of PID 1 that are no job's helper, and all that descend from them. */
static void MarkOrphans(void) {
  bool grew = true;
  TreeForget();
  Scan();
  while (grew) {
    grew = false;
    for (size_t i = 0; i < count; i++) {
      if (processes[i].root != 0) continue;
      if (processes[i].parent == 1 ? JobsIsHelper(processes[i].pid) : RootOf(processes[i].parent) != kOrphan) continue;
      processes[i].root = kOrphan;
      grew = true;
    }
  }
}

/* Stops what is marked. Returns whether there was one that the last call did not stop. */
static bool StopOrphans(void) {
  static pid_t stopped[kMaxProcesses];
  static size_t stopped_count;
  bool news = false;
  size_t before = 0, now = 0;
  for (size_t i = 0; i < count; i++) {
    if (processes[i].root != kOrphan || !processes[i].alive) continue;
    while (before < stopped_count && stopped[before] < processes[i].pid) before++;
    if (before == stopped_count || stopped[before] != processes[i].pid) news = true;
  }
  if (!news) return false;
  for (size_t i = 0; i < count; i++) {
    if (processes[i].root != kOrphan || !processes[i].alive) continue;
    kill(processes[i].pid, SIGSTOP);
    stopped[now++] = processes[i].pid;
  }
  stopped_count = now;
  return true;
}

unsigned TreeKillOrphans(void) {
  /* What is killed one by one makes room for the forks of the rest, so a bomb that lost its helper would never end. What is stopped keeps
   * its place, and at the latest at the pids limit nothing new is born. */
  unsigned found = 0;
  MarkOrphans();
  for (int pass = 0; pass < kStopPasses && StopOrphans(); pass++) MarkOrphans();
  for (size_t i = 0; i < count; i++) {
    if (processes[i].root != kOrphan || !processes[i].alive) continue;
    found++;
    kill(processes[i].pid, SIGKILL);
  }
  return found;
}
