#ifndef BEIGE_TESTS_CLI_PROGRAM_H_
#define BEIGE_TESTS_CLI_PROGRAM_H_

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace beige::testing {

struct Outcome {
  int status = -1;  // exit status as a shell sees it
  std::string out;
  std::string err;
};

std::string BeigeProgram();

// A program that runs beside the test; killed at the end of the object if it still does.
class Program {
 public:
  // `keep` are descriptors that the program inherits under the same number.
  explicit Program(std::vector<std::string> argv, std::vector<std::string> extra_env = {}, std::vector<int> keep = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  void Write(std::string_view input);  // blocking
  void CloseInput() { in_.Reset(); }
  void CloseOutput() { out_.Reset(); }
  void Signal(int signal);
  // Reads stdout until it holds `text` (true), its end, or the limit.
  bool AwaitOutput(std::string_view text, std::chrono::milliseconds limit = std::chrono::seconds(20));
  // Closes stdin, reads to the end and waits; a program that runs into the limit is killed (status 255).
  Outcome Finish(std::chrono::milliseconds limit = std::chrono::seconds(20));

 private:
  bool Pump(std::chrono::milliseconds limit, const std::function<bool()>& done);
  pid_t pid_ = 0;
  UniqueFd in_;
  UniqueFd out_;
  UniqueFd err_;
  Outcome outcome_;
};

Outcome RunBeige(std::vector<std::string> arguments, std::string_view input = "");

// Asks again every 10 ms; for what another process does without a descriptor to wait on.
bool Eventually(const std::function<bool()>& done, std::chrono::milliseconds limit = std::chrono::seconds(20));

}  // namespace beige::testing

#endif
