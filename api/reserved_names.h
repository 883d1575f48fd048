#ifndef BEIGE_API_RESERVED_NAMES_H_
#define BEIGE_API_RESERVED_NAMES_H_

#include <string_view>

namespace beige {

// Utilities of POSIX.1-2017 (XCU 4), the special built-ins of its shell, and git: a tool of such a name comes first on PATH and would
// change what scripts in the sandbox do. Sorted.
inline constexpr std::string_view kReservedToolNames[] = {
    "admin",    "alias",    "ar",       "asa",      "at",       "awk",      "basename", "batch",    "bc",       "bg",       "break",    "c99",
    "cal",      "cat",      "cd",       "cflow",    "chgrp",    "chmod",    "chown",    "cksum",    "cmp",      "comm",     "command",  "compress",
    "continue", "cp",       "crontab",  "csplit",   "ctags",    "cut",      "cxref",    "date",     "dd",       "delta",    "df",       "diff",
    "dirname",  "du",       "echo",     "ed",       "env",      "eval",     "ex",       "exec",     "exit",     "expand",   "export",   "expr",
    "false",    "fc",       "fg",       "file",     "find",     "fold",     "fort77",   "fuser",    "gencat",   "get",      "getconf",  "getopts",
    "git",      "grep",     "hash",     "head",     "iconv",    "id",       "ipcrm",    "ipcs",     "jobs",     "join",     "kill",     "lex",
    "link",     "ln",       "locale",   "localedef", "logger",  "logname",  "lp",       "ls",       "m4",       "mailx",    "make",     "man",
    "mesg",     "mkdir",    "mkfifo",   "more",     "mv",       "newgrp",   "nice",     "nl",       "nm",       "nohup",    "od",       "paste",
    "patch",    "pathchk",  "pax",      "pr",       "printf",   "prs",      "ps",       "pwd",      "qalter",   "qdel",     "qhold",    "qmove",
    "qmsg",     "qrerun",   "qrls",     "qselect",  "qsig",     "qstat",    "qsub",     "read",     "readonly", "renice",   "return",   "rm",
    "rmdel",    "rmdir",    "sact",     "sccs",     "sed",      "set",      "sh",       "shift",    "sleep",    "sort",     "split",    "strings",
    "strip",    "stty",     "tabs",     "tail",     "talk",     "tee",      "test",     "time",     "times",    "touch",    "tput",     "tr",
    "trap",     "true",     "tsort",    "tty",      "type",     "ulimit",   "umask",    "unalias",  "uname",    "uncompress", "unexpand", "unget",
    "uniq",     "unlink",   "unset",    "uucp",     "uudecode", "uuencode", "uustat",   "uux",      "val",      "vi",       "wait",     "wc",
    "what",     "who",      "write",    "xargs",    "yacc",     "zcat"};

}  // namespace beige

#endif
