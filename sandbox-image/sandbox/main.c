/* One binary, many names: see usage below. */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "core.h"
#include "launcher.h"
#include "pid1.h"
#include "text.h"

static const char kUsage[] =
    "usage: beige-sandbox init            process 1 of a sandbox\n"
    "       beige-sandbox runner --fd N [--as UID:GID]\n"
    "                                     process 1 of a tool cell, controlled over descriptor N\n"
    "       beige-sandbox run TOOL ARG... calls a tool through /beige/gateway.sock\n"
    "       beige-sandbox core read|write|patch ...\n"
    "                                     what the agent's model does with files\n"
    "       beige-sandbox version\n"
    "Under any other name (a link in /tools/bin) it calls the tool of that name.\n";

static int Print(int fd, const char *text, int status) {
  return write(fd, text, strlen(text)) < 0 ? 1 : status;
}

int main(int argc, char **argv) {
  if (argc < 1) return 2;
  const char *slash = strrchr(argv[0], '/');
  const char *name = slash == NULL ? argv[0] : slash + 1;
  if (strcmp(name, "beige-sandbox") != 0) return Launch(name, argv + 1);

  const char *mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "init") == 0 && argc == 2) return Pid1Main(kInit, -1, NULL);
  bool runner = strcmp(mode, "runner") == 0 && argc >= 4 && strcmp(argv[2], "--fd") == 0;
  if (runner && (argc == 4 || (argc == 6 && strcmp(argv[4], "--as") == 0))) {
    int64_t fd = ParseDecimal(argv[3], 1 << 20);
    if (fd >= 0) return Pid1Main(kRunner, (int)fd, argc == 6 ? argv[5] : NULL);
  }
  if (strcmp(mode, "core") == 0) return CoreMain(argc - 2, argv + 2);
  if (strcmp(mode, "run") == 0 && argc > 2) return Launch(argv[2], argv + 3);
  if (strcmp(mode, "version") == 0) return Print(1, "beige-sandbox " BEIGE_VERSION "\n", 0);
  if (strcmp(mode, "--help") == 0 || strcmp(mode, "-h") == 0) return Print(1, kUsage, 0);
  return Print(2, kUsage, 2);
}
