/* Wire format of protocol v2, shared by the C program in the sandbox and by the C++ processes.
 *
 * One stream starts with a 16-byte preamble from the side that connected, answered by one from the side that accepted:
 *
 *   0  4  magic "BGE2"            (a v1 stream starts with '{', so the first byte decides)
 *   4  1  lowest version spoken   the answer carries the chosen version in both; 0 = none fits, the stream then closes
 *   5  1  highest version spoken
 *   6  2  role (BGE_ROLE_*)       the answer repeats it
 *   8  4  feature bits            the answer carries those that both sides have
 *  12  4  reserved, 0
 *
 * Then frames both ways, all integers little-endian:
 *
 *   0  4  payload length in bytes (at most BGE_MAX_PAYLOAD)
 *   4  4  call id, chosen by the side that starts the call; 0 for frames about the stream itself
 *   8  1  kind (BGE_*)
 *   9  1  stream number for BGE_WINDOW (0 stdin, 1 stdout, 2 stderr), else 0
 *  10  2  reserved, 0
 *
 * Payloads of CALL, EXEC, JOB, HELLO and REGISTERED are fields: u8 tag, u32 length, bytes; repeated tags keep their order.
 * A reader skips tags that it does not know.
 *
 * Flow control is end to end: a sender may have BGE_WINDOW_INITIAL bytes of a stream outstanding; the consumer (the launcher that
 * wrote to its stdout, the runner that wrote to the job's stdin) returns credit with WINDOW. The gateway relays credit unchanged,
 * so it never buffers more than one window per stream. A consumer may hold back up to a quarter of a window of credit. A job that is sent more
 * STDIN than its window ends with EXIT FAILED 125.
 *
 * The side that connects may send its first frame together with the preamble, without waiting for the answer. JOB with the call id of a
 * job that has not yet ended breaks the protocol: the connection is dropped. Frames for a call that has ended are ignored.
 */
#ifndef BEIGE_PROTOCOL_V2_H_
#define BEIGE_PROTOCOL_V2_H_

#include <stdint.h>

#define BGE_MAGIC "BGE2"
#define BGE_PREAMBLE_BYTES 16
#define BGE_HEADER_BYTES 12
#define BGE_VERSION_MIN 2
#define BGE_VERSION_MAX 2
/* A call's request is at most 1 MiB of fields; data frames are cut to BGE_CHUNK. */
#define BGE_MAX_PAYLOAD (1024 * 1024 + 65536)
#define BGE_MAX_REQUEST (1024 * 1024)
#define BGE_MAX_ARG (128 * 1024)
#define BGE_CHUNK (32 * 1024)
#define BGE_WINDOW_INITIAL (64 * 1024)

enum bge_role {
  BGE_ROLE_CALLER = 1,  /* a launcher on gateway.sock: sends CALL */
  BGE_ROLE_CONTROL = 2, /* PID 1 on control.sock, or a cell's runner on an inherited descriptor: receives JOB */
  BGE_ROLE_PROBE = 3,   /* PID 1's round trip on gateway.sock: sends one PROBE, receives one PROBED */
  BGE_ROLE_CLI = 4      /* the owner's CLI on run/cli.sock: sends EXEC */
};

/* Feature bits: none yet; a side sets only what it has. */
#define BGE_FEATURES 0u

enum bge_kind {
  BGE_CALL = 1,   /* caller -> gateway: fields TOOL, ARG*, CWD, SESSION, CHANNEL, FLAGS */
  BGE_JOB = 2,    /* gateway -> PID 1 or runner: fields ARG+, ENV*, CWD, FLAGS, DEADLINE, TTY */
  BGE_STDIN = 3,  /* bytes; empty = end of file */
  BGE_STDOUT = 4, /* bytes */
  BGE_STDERR = 5, /* bytes */
  BGE_SIGNAL = 6, /* u8 signal number, for the job's whole process group; 9 also ends its whole tree */
  BGE_RESIZE = 7, /* u16 columns, u16 rows */
  BGE_WINDOW = 8, /* u32 bytes of credit for the stream named in the header */
  BGE_EXIT = 9,   /* u8 how (BGE_HOW_*), i32 code, then text for a person (may be empty); the last frame of a call */
  BGE_PING = 10,  /* 8 bytes, echoed by PONG */
  BGE_PONG = 11,
  BGE_HELLO = 12,      /* PID 1 -> gateway, first frame on control.sock: fields KEY, INSTANCE, VERSION */
  BGE_REGISTERED = 13, /* gateway -> PID 1: accepted; PID 1 runs jobs only after this */
  BGE_REFUSED = 14,    /* gateway -> peer: text why; the stream closes */
  BGE_KILL_ALL = 15,   /* gateway -> PID 1: SIGKILL every process but PID 1, without forking. Jobs end as EXIT SIGNALED 9; a PING sent
                          after it is answered when all is dead (or after 200 ms) */
  BGE_PROBE = 16,      /* gateway -> PID 1 on control: 16-byte nonce, connect freshly to gateway.sock and present it.
                          PID 1 -> gateway on a BGE_ROLE_PROBE stream: the same nonce */
  BGE_PROBED = 17,     /* gateway -> PID 1 on the probe stream: echo of the nonce. PID 1 -> gateway on control, same call id 0:
                          the nonce when the round trip came back, an empty payload when it failed */
  BGE_EXEC = 18,       /* CLI -> gateway: fields NAMESPACE, AGENT, ARG+, ENV*, CWD, FLAGS, DEADLINE, TTY */
  BGE_STARTED = 19     /* PID 1 -> gateway, for jobs without KILL_TREE: u32 pid of the job as PID 1 sees it (a claim, for people) */
};

enum bge_tag {
  BGE_TAG_TOOL = 1,
  BGE_TAG_ARG = 2,
  BGE_TAG_ENV = 3,      /* KEY=VALUE */
  BGE_TAG_CWD = 4,
  BGE_TAG_SESSION = 5,  /* a claim */
  BGE_TAG_CHANNEL = 6,  /* a claim */
  BGE_TAG_FLAGS = 7,    /* u32 of BGE_FLAG_* */
  BGE_TAG_DEADLINE = 8, /* u32 milliseconds; absent or 0 = none */
  BGE_TAG_TTY = 9,      /* u16 columns, u16 rows; presence asks for a terminal */
  BGE_TAG_KEY = 10,     /* 32 random bytes */
  BGE_TAG_INSTANCE = 11,
  BGE_TAG_VERSION = 12,
  BGE_TAG_NAMESPACE = 13,
  BGE_TAG_AGENT = 14
};

#define BGE_FLAG_STDIN 1u     /* stdin frames will come; without it the job's stdin is /dev/null */
#define BGE_FLAG_DETACHED 2u  /* goes on when the gateway is gone */
#define BGE_FLAG_BENEATH 8u   /* CWD is a claim: taken relative to the job's BEIGE_WORKSPACE, and refused if it leads out of it */
#define BGE_FLAG_KILL_TREE 4u /* whatever the job left behind ends with it (tool calls); without it background children stay (exec) */

enum bge_how {
  BGE_HOW_EXITED = 0,   /* code = exit status */
  BGE_HOW_SIGNALED = 1, /* code = signal number */
  BGE_HOW_FAILED = 2,   /* never started; code = 126, 127 or 125 as a shell would say; 125 also: ended because it broke a bound */
  BGE_HOW_TIMEOUT = 3,  /* the deadline passed; SIGTERM, 2 s grace, SIGKILL to the whole tree; code = 124 */
  BGE_HOW_LOST = 4,     /* sandbox, cell or gateway went away in mid-call; code = 125 */
  BGE_HOW_DENIED = 5    /* by policy or audit: code = 126, or 127 for a name that nobody knows */
};

#endif
