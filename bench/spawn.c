/* spawn N COMMAND ARGS...: starts the command N times, one after the other, and prints the median and the 99th percentile of the
 * time from posix_spawn to its end, in microseconds. Static, so that it runs inside any sandbox image. Output goes to /dev/null. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static int Compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: spawn N COMMAND ARGS...\n");
    return 2;
  }
  int n = atoi(argv[1]);
  double *times = malloc(sizeof(double) * (size_t)n);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd = 0; fd < 3; fd++) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  int last = 0;
  for (int i = 0; i < n; i++) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    pid_t pid;
    int status;
    if (posix_spawnp(&pid, argv[2], &actions, NULL, argv + 2, environ) != 0) {
      perror("spawn");
      return 1;
    }
    waitpid(pid, &status, 0);
    clock_gettime(CLOCK_MONOTONIC, &b);
    times[i] = (double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3;
    last = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  qsort(times, (size_t)n, sizeof(double), Compare);
  printf("{\"p50_us\":%.1f,\"p99_us\":%.1f,\"n\":%d,\"status\":%d}\n", times[n / 2], times[n * 99 / 100], n, last);
  return 0;
}
