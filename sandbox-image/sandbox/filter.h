/* The seccomp filter of PID 1, inherited by all that runs in the sandbox. */
#ifndef BEIGE_SANDBOX_FILTER_H_
#define BEIGE_SANDBOX_FILTER_H_

/* Refuses, with EPERM, what a process of the same uid could do to PID 1 although it is not dumpable: limits, scheduling, priorities,
 * tracing, pidfds and signals, each only where the target is pid 1. Sets no-new-privileges. Returns 0, or -1 with errno. */
int InstallFilter(void);

/* On top of it, in a tool cell: no way to new namespaces or mounts, none to parts of the kernel that no namespace divides (keys, bpf, perf,
 * userfaultfd, io_uring, modules, the clock, vsock and other odd socket families), and only the machine's own calling convention. After
 * InstallFilter. Returns 0, or -1 with errno. */
int InstallCellFilter(void);

#endif
