#include "cli/report.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace beige::cli {

int StatusOf(Code code) {
  switch (code) {
    case Code::kInvalid: return kUsage;
    case Code::kNotFound: return kNotFound;
    case Code::kDenied: return kDenied;
    case Code::kUnavailable: return kUnavailable;
    case Code::kTimeout: return kTimedOut;
    case Code::kConflict:
    case Code::kExhausted:
    case Code::kInternal: return kFailed;
  }
  return kFailed;
}

void Print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void PrintLine(std::string_view text) { Print(std::string(text) + "\n"); }

namespace {
void ToStderr(std::string line) {
  // One error is one line, whatever a library put into its text.
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}
}  // namespace

void PrintError(std::string_view command, std::string_view message) {
  ToStderr("beige: " + std::string(command) + (command.empty() ? "" : ": ") + Printable(message));
}

void PrintWarning(std::string_view command, std::string_view message) {
  ToStderr("beige: " + std::string(command) + ": warning: " + Printable(message));
}

int Report(std::string_view command, const Error& error) {
  PrintError(command, error.message);
  return StatusOf(error.code);
}

int Report(std::string_view command, Status status, std::string_view message) {
  PrintError(command, message);
  return status;
}

std::string Printable(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto u = static_cast<unsigned char>(c);
    // U+0080 to U+009F, which some terminals obey as they do an escape.
    if (u == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) >= 0x80 && static_cast<unsigned char>(text[i + 1]) < 0xa0) {
      const auto next = static_cast<unsigned char>(text[++i]);
      out += "\\xc2\\x";
      out += kHex[next >> 4];
      out += kHex[next & 15];
      continue;
    }
    // U+2028 to U+202E and U+2066 to U+2069: ends of lines, and marks that turn the direction of text, so that it reads otherwise than it is.
    if (u == 0xe2 && i + 2 < text.size()) {
      const auto second = static_cast<unsigned char>(text[i + 1]);
      const auto third = static_cast<unsigned char>(text[i + 2]);
      if ((second == 0x80 && third >= 0xa8 && third <= 0xae) || (second == 0x81 && third >= 0xa6 && third <= 0xa9)) {
        out += second == 0x80 ? "\\u202" : "\\u206";
        out += kHex[third & 15];
        i += 2;
        continue;
      }
    }
    if (u >= 0x20 && u != 0x7f) {
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += "\\x";
      out += kHex[u >> 4];
      out += kHex[u & 15];
    }
  }
  return out;
}

bool WantsColour(int fd) {
  const char* no = std::getenv("NO_COLOR");
  return ::isatty(fd) == 1 && (no == nullptr || *no == '\0');
}

}  // namespace beige::cli
