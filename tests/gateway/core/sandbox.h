#ifndef BEIGE_TESTS_GATEWAY_CORE_SANDBOX_H_
#define BEIGE_TESTS_GATEWAY_CORE_SANDBOX_H_

#include <sys/types.h>

#include <string>

#include "api/paths.h"

namespace beige::testing {

// A real PID 1: our binary as process 1 of a bubblewrap container, with the link's directory at /beige as an engine would mount it.
class Sandbox {
 public:
  // `workspace`: a directory of the host; "" = an empty one that nobody else sees.
  Sandbox(const HomePaths& paths, const std::string& uid, const std::string& instance, const std::string& workspace = "");
  ~Sandbox() { Kill(); }
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  void Kill();

 private:
  pid_t pid_ = 0;
};

}  // namespace beige::testing

#endif
