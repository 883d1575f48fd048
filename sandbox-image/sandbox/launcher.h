/* A tool's launcher: one connection, one request, then bytes both ways until EXIT. */
#ifndef BEIGE_SANDBOX_LAUNCHER_H_
#define BEIGE_SANDBOX_LAUNCHER_H_

/* Calls `tool` with the NULL-terminated `arguments`. Returns the exit status, or dies of the tool's signal. */
int Launch(const char *tool, char **arguments);

#endif
