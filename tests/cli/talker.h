#ifndef BEIGE_TESTS_CLI_TALKER_H_
#define BEIGE_TESTS_CLI_TALKER_H_

#include <string>
#include <vector>

#include "home.h"
#include "program.h"

namespace beige::testing {

// A home with the ready agent a1, and a server beside it that speaks docs/sessions.md (stand_ins/talking).
class Talker {
 public:
  Talker();
  const Home& home() const { return home_; }
  // The bodies of the requests so far whose "METHOD path" begins with `what`, as JSON text.
  std::vector<std::string> Requests(const std::string& what) const;

 private:
  Home home_;
  Program server_;
};

}  // namespace beige::testing

#endif
