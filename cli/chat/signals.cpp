#include "cli/chat/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace beige::cli {

CaughtSignals::CaughtSignals(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, &before_);
  fd_.Reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

CaughtSignals::~CaughtSignals() {
  while (Read() != 0) {
  }
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int CaughtSignals::Read() {
  signalfd_siginfo info{};
  return ::read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace beige::cli
