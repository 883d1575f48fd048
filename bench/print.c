// A tool that prints without end, as fast as it is read; or with an argument burns a processor in as many processes. For SECONDS: print SECONDS [PROCESSES].
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
  static char chunk[64 << 10];
  const time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
  const int processes = argc > 2 ? atoi(argv[2]) : 0;
  memset(chunk, 'x', sizeof chunk);
  for (int i = 1; i < processes; ++i) {
    if (fork() == 0) break;
  }
  while (time(NULL) < end) {
    if (processes == 0 && write(1, chunk, sizeof chunk) < 0) return 1;
  }
  while (wait(NULL) > 0) {
  }
  return 0;
}
