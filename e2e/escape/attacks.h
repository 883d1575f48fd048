/* What attacker.c can be asked for. Each prints what it tried; 1 = all was refused, 0 = something worked. */
#ifndef BEIGE_E2E_ESCAPE_ATTACKS_H_
#define BEIGE_E2E_ESCAPE_ATTACKS_H_

int Verdict(const char *what, long result);
/* A stream socket's path, or an abstract name after '@'; -1 with errno. */
int Connect(const char *path);
int ConnectNow(const char *path); /* never waits for a full backlog */

int WriteEverywhere(void);
int FindText(const char *hex);
int FindSockets(void);
int SharedMemory(const char *verb, int key);
int WhoAmI(void);

int ManyCalls(const char *tool, const char *argument, int count);
int ToolNames(const char *tool);
int CrowdControl(int count, int seconds);

#endif
