#ifndef BEIGE_CLI_REPORT_H_
#define BEIGE_CLI_REPORT_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace beige::cli {

// Exit statuses of every command but `exec`, which gives the command's own and kExecFailed for our failures.
enum Status : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kNotFound = 3,
  kDenied = 4,
  kUnavailable = 5,
  kTimedOut = 124,
  kExecFailed = 125,
};

int StatusOf(Code code);

// Writes to stdout / stderr whole; a closed reader ends the program as for every Unix tool.
void Print(std::string_view text);
void PrintLine(std::string_view text);

// `beige: <command>: <message>` as one line on stderr; `message` says what, why and what to do.
void PrintError(std::string_view command, std::string_view message);
void PrintWarning(std::string_view command, std::string_view message);

// Prints the error and gives its exit status.
int Report(std::string_view command, const Error& error);
int Report(std::string_view command, Status status, std::string_view message);

// The text with control characters as \xNN and marks of text direction as \uNNNN: what an agent wrote must not drive the terminal of the
// person who reads it, nor read otherwise than it is.
std::string Printable(std::string_view text);

// True when the stream (1 or 2) is a terminal that wants colour (NO_COLOR is unset).
bool WantsColour(int fd);

}  // namespace beige::cli

#endif
