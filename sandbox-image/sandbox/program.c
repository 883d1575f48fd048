/* From request to program: environment, directory, PATH, exec. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "helper.h"
#include "pid1.h"
#include "text.h"

extern char **environ;

static const char kDefaultPath[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static uint8_t handed[kSpareRequest + 1];
static size_t handed_length;

void ForgetRequest(void) {
  explicit_bzero(handed, handed_length);
  handed_length = 0;
}

static _Noreturn void Fail(int code, const char *what, const char *why) {
  char text[kTextBytes];
  Join(text, sizeof text, what, ": ", why, NULL);
  SendReport(kFailed, code, false, text);
  _exit(code);
}

/* Number of characters before '=' in KEY=VALUE; 0 when there is no key. */
static size_t KeyLength(const char *entry) {
  const char *equals = strchr(entry, '=');
  return equals == NULL ? 0 : (size_t)(equals - entry);
}

/* Sets or replaces `entry`; returns the new count. */
static size_t SetVariable(char **variables, size_t count, char *entry) {
  size_t key = KeyLength(entry);
  if (key == 0) return count;
  for (size_t i = 0; i < count; i++) {
    if (strncmp(variables[i], entry, key + 1) == 0) {
      variables[i] = entry;
      return count;
    }
  }
  variables[count] = entry;
  return count + 1;
}

/* `key` ends with '='. */
static const char *Value(char **variables, const char *key) {
  for (; *variables != NULL; variables++)
    if (strncmp(*variables, key, strlen(key)) == 0) return *variables + strlen(key);
  return NULL;
}

static const char *FindPath(char **variables) {
  const char *path = Value(variables, "PATH=");
  return path == NULL ? kDefaultPath : path;
}

/* From <linux/openat2.h>. */
struct OpenHow {
  uint64_t flags, mode, resolve;
};
enum { kNoMagicLinks = 2, kBeneath = 8 };

/* The directory is what a caller says it is in, of a tree in which callers put links: nothing that leads out of the tree is followed. */
static void EnterBeneath(const char *root, const char *directory) {
  if (root == NULL) Fail(126, "job", "it has no workspace");
  if (chdir(root) != 0) Fail(126, root, strerror(errno));
  if (directory == NULL) return;
  struct OpenHow how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = kBeneath | kNoMagicLinks};
  long fd = syscall(SYS_openat2, AT_FDCWD, directory, &how, sizeof how);
  if (fd < 0) Fail(126, directory, errno == EXDEV ? "leads out of the workspace" : strerror(errno));
  if (fchdir((int)fd) != 0) Fail(126, directory, strerror(errno));
  close((int)fd);
}

/* As execvp does for a file without a magic number. */
static void ExecByShell(char *path, char **argv, size_t count, char **variables) {
  char *by_shell[count + 3];
  by_shell[0] = "/bin/sh";
  by_shell[1] = path;
  memcpy(by_shell + 2, argv + 1, count * sizeof *argv);
  execve(by_shell[0], by_shell, variables);
}

static void TryExec(char *path, char **argv, size_t count, char **variables) {
  execve(path, argv, variables);
  if (errno == ENOEXEC) ExecByShell(path, argv, count, variables);
}

static _Noreturn void Exec(char **argv, size_t count, char **variables) {
  char *name = argv[0];
  if (strchr(name, '/') != NULL) {
    TryExec(name, argv, count, variables);
    Fail(errno == ENOENT || errno == ENOTDIR ? 127 : 126, name, strerror(errno));
  }
  static char path[4096 + 256];
  bool denied = false;
  const char *at = FindPath(variables);
  while (name[0] != '\0') {
    size_t length = strcspn(at, ":");
    if (length < 4096 && strlen(name) < 255) {
      memcpy(path, at, length);
      Join(path + length, sizeof path - length, length == 0 ? "" : "/", name, NULL);
      TryExec(path, argv, count, variables);
      if (errno == EACCES) denied = true;
      else if (errno != ENOENT && errno != ENOTDIR) Fail(126, name, strerror(errno));
    }
    if (at[length] == '\0') break;
    at += length + 1;
  }
  if (denied) Fail(126, name, "permission denied");
  Fail(127, name, "not found in PATH");
}

static void ResetSignals(void) {
  /* Not signal(): musl keeps three for itself, which a parent with another C library may have ignored. All zero is SIG_DFL. */
  static const uint64_t kDefault[8];
  for (int number = 1; number < 65; number++) syscall(SYS_rt_sigaction, number, kDefault, NULL, 8);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Fields are ended with a NUL in place, over the tag of the next one, which is read before: hence two passes. */
static _Noreturn void Run(uint8_t *fields, size_t length) {
  size_t at = 0, count = 0, arguments = 0, inherited = 0;
  struct Field field;
  while (NextField(fields, length, &at, &field) == 1) {
    count++;
    arguments += field.tag == BGE_TAG_ARG;
  }
  while (environ[inherited] != NULL) inherited++;
  char *argv[arguments + 1];
  char *variables[inherited + count + 1];
  char *directory = NULL;
  uint32_t flags = 0;
  size_t variable_count = 0;
  for (size_t i = 0; i < inherited; i++)
    if (strncmp(environ[i], "BEIGE_INSTANCE=", 15) != 0) variables[variable_count++] = environ[i];

  arguments = 0;
  at = 0;
  uint8_t *previous_end = NULL;
  int more = NextField(fields, length, &at, &field);
  char *pending_variable = NULL;
  while (more == 1) {
    if (previous_end != NULL) *previous_end = '\0';
    if (pending_variable != NULL) variable_count = SetVariable(variables, variable_count, pending_variable);
    pending_variable = NULL;
    if (field.tag != BGE_TAG_FLAGS && field.tag != BGE_TAG_DEADLINE && field.tag != BGE_TAG_TTY &&
        memchr(field.bytes, '\0', field.length) != NULL) {
      Fail(126, "job", "an argument, variable or directory holds a NUL byte, which no program can be given");
    }
    char *text = (char *)field.bytes;
    if (field.tag == BGE_TAG_ARG) argv[arguments++] = text;
    if (field.tag == BGE_TAG_CWD && field.length > 0) directory = text;
    if (field.tag == BGE_TAG_FLAGS && field.length == 4) flags = Get32(field.bytes);
    if (field.tag == BGE_TAG_ENV) pending_variable = text;
    previous_end = field.bytes + field.length;
    more = NextField(fields, length, &at, &field);
  }
  *previous_end = '\0'; /* the buffer has a byte more than the longest request */
  if (pending_variable != NULL) variable_count = SetVariable(variables, variable_count, pending_variable);
  argv[arguments] = NULL;
  variables[variable_count] = NULL;

  if (!(flags & BGE_FLAG_STDIN) && isatty(0) == 0) {
    int null = open("/dev/null", O_RDONLY);
    if (null < 0) Fail(126, "/dev/null", strerror(errno));
    dup2(null, 0);
    close(null);
  }
  if (flags & BGE_FLAG_BENEATH) EnterBeneath(Value(variables, "BEIGE_WORKSPACE="), directory);
  else if (directory != NULL && chdir(directory) != 0) Fail(126, directory, strerror(errno));
  ResetSignals();
  Exec(argv, arguments, variables);
}

void BecomeProgram(const struct Request *request) {
  struct rlimit files = OriginalNofile();
  setrlimit(RLIMIT_NOFILE, &files);
  SendReport(kReady, getpid(), false, "");
  if (request->fields != NULL) Run(request->fields, request->length);
  ssize_t got;
  do {
    got = recv(kHelperControl, handed, sizeof handed - 1, 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) _exit(0); /* PID 1 let the spare go */
  handed_length = (size_t)got;
  Run(handed, (size_t)got);
}
