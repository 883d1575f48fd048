#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "relay.h"
#include "text.h"
#include "wire.h"

static const char kSocket[] = "/beige/gateway.sock";
enum { kRetryFor = 5000, kFirstPause = 2, kLastPause = 100, kLead = BGE_PREAMBLE_BYTES + BGE_HEADER_BYTES };

/* Untouched pages of this cost nothing. */
static uint8_t request[kLead + BGE_MAX_REQUEST];

/* A closed stdin and /dev/null are no input: the tool then gets /dev/null too. */
static bool HasInput(void) {
  struct stat status;
  if (fstat(0, &status) != 0) return false;
  return !(S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3));
}

static bool Add(size_t *at, uint8_t tag, const void *bytes, size_t length) {
  size_t next = PutField(request, sizeof request, *at, tag, bytes, length);
  if (next == *at) return false;
  *at = next;
  return true;
}

static bool AddClaim(size_t *at, uint8_t tag, const char *variable) {
  const char *value = getenv(variable);
  return value == NULL || Add(at, tag, value, strlen(value));
}

/* Preamble and CALL, to be sent in one write. Returns its length, or 0 when the arguments are too long. */
static size_t BuildRequest(const char *tool, char **arguments, bool input) {
  static char directory[4096];
  uint8_t flags[4];
  size_t at = kLead;
  Put32(flags, input ? BGE_FLAG_STDIN : 0);
  bool fits = Add(&at, BGE_TAG_TOOL, tool, strlen(tool));
  for (; fits && *arguments != NULL; arguments++) fits = Add(&at, BGE_TAG_ARG, *arguments, strlen(*arguments));
  if (fits && getcwd(directory, sizeof directory) != NULL) fits = Add(&at, BGE_TAG_CWD, directory, strlen(directory));
  fits = fits && AddClaim(&at, BGE_TAG_SESSION, "BEIGE_SESSION_KEY") && AddClaim(&at, BGE_TAG_CHANNEL, "BEIGE_CHANNEL") &&
         Add(&at, BGE_TAG_FLAGS, flags, sizeof flags);
  if (!fits) return 0;
  PutPreamble(request, BGE_ROLE_CALLER);
  PutHeader(request + BGE_PREAMBLE_BYTES, (uint32_t)(at - kLead), kCallId, BGE_CALL, 0);
  return at;
}

/* The gateway may be restarting, and a full backlog passes. */
static bool Passes(int error) { return error == ECONNREFUSED || error == ENOENT || error == EAGAIN; }

static int Connect(const char *tool) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  memcpy(address.sun_path, kSocket, sizeof kSocket);
  int64_t give_up_at = 0;
  long pause = kFirstPause;
  while (true) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && fd < 3) { /* a closed stdin or stdout stays closed */
      int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
      close(fd);
      fd = moved;
    }
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int error = errno;
    if (fd >= 0) close(fd);
    int64_t now = NowMs();
    if (give_up_at == 0) give_up_at = now + kRetryFor;
    if (!Passes(error) || now >= give_up_at) {
      Say(tool, ": gateway unreachable: ", kSocket, ": ", strerror(error), "; it may be down, try again later", NULL);
      return -1;
    }
    struct timespec sleep = {.tv_nsec = pause * 1000000};
    nanosleep(&sleep, NULL);
    pause = pause * 2 > kLastPause ? kLastPause : pause * 2;
  }
}

/* A shell that started us shall see what it would see of the tool itself. */
static int DieOf(int number) {
  sigset_t set;
  prctl(PR_SET_DUMPABLE, 0); /* a core of the launcher would say nothing of the tool */
  if (number > 0 && number <= 64 && number != SIGSTOP && number != SIGTSTP && number != SIGTTIN && number != SIGTTOU) {
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
  }
  return 128 + number;
}

static const char *Describe(const struct Ending *ending) {
  if (ending->text[0] != '\0') return ending->text;
  switch (ending->how) {
    case BGE_HOW_TIMEOUT:
      return "timed out";
    case BGE_HOW_DENIED:
      return "denied";
    case BGE_HOW_LOST:
      return "lost before it ended";
    default:
      return "could not be started";
  }
}

int Launch(const char *tool, char **arguments) {
  bool input = HasInput();
  size_t length = BuildRequest(tool, arguments, input);
  if (length == 0) {
    Say(tool, ": the arguments are too long: a call takes at most 1 MiB; pass the data on stdin", NULL);
    return 126;
  }
  int fd = Connect(tool);
  if (fd < 0) return 125;
  struct Ending ending;
  Relay(fd, request, length, input, &ending);
  switch (ending.how) {
    case BGE_HOW_EXITED:
      return ending.code & 0xff;
    case BGE_HOW_SIGNALED:
      return DieOf(ending.code);
    case kHowBroken:
      Say(tool, ": ", ending.text, NULL);
      return 125;
    case kHowOutputClosed:
      return DieOf(SIGPIPE);
    default:
      /* The gateway's text names the tool already. */
      if (ending.text[0] != '\0') Say(ending.text, NULL);
      else Say(tool, ": ", Describe(&ending), NULL);
      return ending.code & 0xff;
  }
}
