#ifndef BEIGE_TESTS_CLI_TERMINAL_H_
#define BEIGE_TESTS_CLI_TERMINAL_H_

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace beige::testing {

// A terminal of the test's, 100x40, and a program on it.
class Terminal {
 public:
  Terminal();
  ~Terminal();  // kills a program that still runs
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // With `controlling` the terminal is the program's own, so that Ctrl-C is a signal to it.
  pid_t Start(const std::vector<std::string>& argv, std::vector<std::string> extra_env = {}, bool controlling = false);
  bool AwaitKeys() const;  // each key is read as it comes, Ctrl-D too; false when that does not begin
  bool Raw() const;
  bool Echoes() const;
  void Resize(unsigned short columns, unsigned short rows);
  void Type(std::string_view text);
  // Reads what the program writes until it holds `text`, from where the last wait ended on. False at its end or the limit.
  bool Await(std::string_view text, std::chrono::milliseconds limit = std::chrono::seconds(20));
  const std::string& output() const { return output_; }  // all that was read
  int Wait();  // exit status as a shell sees it

 private:
  UniqueFd master_;
  UniqueFd slave_;
  pid_t pid_ = 0;
  std::string output_;
  size_t seen_ = 0;
};

}  // namespace beige::testing

#endif
