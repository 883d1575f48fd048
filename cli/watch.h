#ifndef BEIGE_CLI_WATCH_H_
#define BEIGE_CLI_WATCH_H_

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace beige::cli {

// Waits for changes of files by inotify. Used so: Add() what matters, read the files, Wait(), read again: a change between Add and the
// reading ends the next Wait at once, so none is missed. Where inotify instances are used up, Wait() is a pause of 200 ms instead.
class Watch {
 public:
  Watch();

  // Watches a directory or a file; adding it again costs nothing. What doesn't exist is skipped: add its parent too and
  // add again before each reading.
  void Add(const std::string& path);

  // Only the removal or renaming of the directory itself, not what happens in it.
  bool AddSelf(const std::string& directory);  // false: there is none now

  // Until something changed (true) or the deadline passed (false); no deadline = for ever.
  bool Wait(std::optional<SteadyTime> deadline);

  // For callers with a poll loop of their own: readable when something changed (-1 when inotify is used up), and forgotten by Clear.
  int fd() const { return fd_.get(); }
  void Clear();

 private:
  UniqueFd fd_;
};

}  // namespace beige::cli

#endif
