/* Looks for what should not be seen, and tries to write what should not be written. */
#define _GNU_SOURCE
#include "attacks.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static int found;
static const char *needle;

static int Beneath(const char *path, const char *top) {
  size_t length = strlen(top);
  return strncmp(path, top, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static void Worked(const char *what, const char *path) {
  printf("%s %s: worked\n", what, path);
  found = 1;
}

/* What an agent may write. */
static int Mine(const char *path) {
  static const char *const tops[] = {"/workspace", "/tmp", "/proc", "/dev/shm", "/dev/mqueue", "/dev/pts", "/scratch", "/data"};
  for (size_t i = 0; i < sizeof tops / sizeof tops[0]; i++)
    if (Beneath(path, tops[i])) return 1;
  return 0;
}

/* Calls `visit` for `path` and, as long as it answers true, for what lies beneath; never follows links. */
static void Walk(const char *path, int (*visit)(const char *, const struct stat *)) {
  struct stat status;
  if (lstat(path, &status) != 0 || !visit(path, &status) || !S_ISDIR(status.st_mode)) return;
  DIR *listing = opendir(path);
  if (listing == NULL) return;
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    char below[4096];
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (snprintf(below, sizeof below, "%s/%s", path[1] == '\0' ? "" : path, entry->d_name) < (int)sizeof below) Walk(below, visit);
  }
  closedir(listing);
}

static int TryEntry(const char *path, const struct stat *status) {
  char beside[4200];
  if (Mine(path)) return 0;
  if (S_ISSOCK(status->st_mode) || S_ISFIFO(status->st_mode)) return 1;
  /* Whoever may write to a device may touch its times; nodes of the host are judged by their modes below. */
  int device = S_ISCHR(status->st_mode);
  if (S_ISDIR(status->st_mode)) {
    snprintf(beside, sizeof beside, "%s/planted", path);
    int fd = open(beside, O_CREAT | O_WRONLY | O_EXCL, 0600);
    if (fd >= 0) Worked("create", beside);
    if (mkdir(beside, 0700) == 0) Worked("mkdir", beside);
    if (symlink("/tmp", beside) == 0) Worked("symlink", beside);
    if (link("/proc/self/exe", beside) == 0) Worked("link", beside);
    if (open(path, O_TMPFILE | O_WRONLY, 0600) >= 0) Worked("nameless file in", path);
  } else if (S_ISREG(status->st_mode)) {
    if (open(path, O_WRONLY) >= 0) Worked("open for writing", path);
    if (truncate(path, status->st_size) == 0) Worked("truncate", path);
    if (unlink(path) == 0) Worked("unlink", path);
    if (rename("/tmp/own", path) == 0) Worked("rename over", path);
  } else if (S_ISBLK(status->st_mode)) {
    if (open(path, O_RDONLY) >= 0) Worked("open block device", path);
  }
  if (!S_ISLNK(status->st_mode)) {
    if (chmod(path, status->st_mode & 07777) == 0) Worked("chmod", path);
    if (lchown(path, getuid(), getgid()) == 0) Worked("chown", path);
    if (!device && utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW) == 0) Worked("utimes", path);
    if (setxattr(path, "user.x", "x", 1, 0) == 0) Worked("setxattr", path);
  }
  /* Of a whole system, which a cell shows read-only, its top is enough. */
  return !Beneath(path, "/usr") || strchr(path + 1, '/') == NULL;
}

int WriteEverywhere(void) {
  int own = open("/tmp/own", O_CREAT | O_WRONLY, 0600);
  if (own >= 0) close(own);
  Walk("/", TryEntry);
  return found ? 0 : 1;
}

static void Search(const char *path) {
  static char block[1 << 20];
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return;
  size_t have = 0;
  ssize_t n;
  while (have < sizeof block && (n = read(fd, block + have, sizeof block - have)) > 0) have += (size_t)n;
  close(fd);
  if (memmem(block, have, needle, strlen(needle)) != NULL) Worked("read", path);
}

static int SearchEntry(const char *path, const struct stat *status) {
  if (Beneath(path, "/sys") || Beneath(path, "/proc/sys") || strcmp(path, "/usr") == 0) return 0;
  if (!S_ISREG(status->st_mode) || strstr(path, "kmsg") != NULL || strstr(path, "pagemap") != NULL || strcmp(path, "/proc/kcore") == 0) return 1;
  Search(path);
  return 1;
}

/* Every file that can be opened, /proc of every process included. The needle comes as hexadecimal digits, so that our own arguments do
 * not hold it. */
int FindText(const char *hex) {
  static char text[200];
  size_t length = strlen(hex) / 2;
  if (length >= sizeof text) return 2;
  for (size_t i = 0; i < length; i++) {
    unsigned byte;
    if (sscanf(hex + 2 * i, "%2x", &byte) != 1) return 2;
    text[i] = (char)byte;
  }
  needle = text;
  Walk("/", SearchEntry);
  return found ? 0 : 1;
}

static int SocketEntry(const char *path, const struct stat *status) {
  if (Beneath(path, "/proc")) return 0;
  if (S_ISSOCK(status->st_mode)) Worked("see socket", path);
  return 1;
}

int FindSockets(void) {
  Walk("/", SocketEntry);
  return found ? 0 : 1;
}

int SharedMemory(const char *verb, int key) {
  return Verdict("shmget", shmget(key, 4096, strcmp(verb, "make") == 0 ? IPC_CREAT | 0666 : 0));
}

int WhoAmI(void) {
  printf("%d %d\n", (int)getuid(), (int)geteuid());
  return 0;
}
