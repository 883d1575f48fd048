#ifndef BEIGE_CLI_EXEC_TERMINAL_H_
#define BEIGE_CLI_EXEC_TERMINAL_H_

#include <termios.h>

#include <optional>

#include "protocol/v2_codec.h"

namespace beige::cli {

// A terminal in raw mode for as long as the object lives, so that keys such as Ctrl-C reach the other side as bytes.
// Does nothing for a descriptor that is no terminal.
class RawTerminal {
 public:
  explicit RawTerminal(int fd);
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  int fd_;
  std::optional<termios> before_;
};

// Size of the first terminal among the descriptors 0, 1 and 2; 80x24 when there is none.
v2::TerminalSize CurrentTerminalSize();

}  // namespace beige::cli

#endif
