#include "cli/exec/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace beige::cli {

RawTerminal::RawTerminal(int fd) : fd_(fd) {
  termios mode{};
  if (::tcgetattr(fd, &mode) != 0) return;
  before_ = mode;
  ::cfmakeraw(&mode);
  ::tcsetattr(fd, TCSADRAIN, &mode);
}

RawTerminal::~RawTerminal() {
  if (before_) ::tcsetattr(fd_, TCSADRAIN, &*before_);
}

v2::TerminalSize CurrentTerminalSize() {
  for (const int fd : {0, 1, 2}) {
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) return {size.ws_col, size.ws_row};
  }
  return {};
}

}  // namespace beige::cli
