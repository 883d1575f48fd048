#ifndef BEIGE_CLI_CHAT_SIGNALS_H_
#define BEIGE_CLI_CHAT_SIGNALS_H_

#include <signal.h>

#include <initializer_list>

#include "base/unique_fd.h"

namespace beige::cli {

// Takes these signals out of their usual way for as long as the object lives (made before any thread is): they are read from fd().
class CaughtSignals {
 public:
  explicit CaughtSignals(std::initializer_list<int> signals);
  ~CaughtSignals();
  CaughtSignals(const CaughtSignals&) = delete;
  CaughtSignals& operator=(const CaughtSignals&) = delete;

  int fd() const { return fd_.get(); }
  int Read();  // the next that came; 0 = none

 private:
  sigset_t before_{};
  UniqueFd fd_;
};

}  // namespace beige::cli

#endif
