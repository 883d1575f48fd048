#ifndef BEIGE_TESTS_CLI_HOME_H_
#define BEIGE_TESTS_CLI_HOME_H_

#include <string>
#include <string_view>
#include <vector>

#include "api/agent.h"
#include "api/paths.h"
#include "program.h"

namespace beige::testing {

// A home in a temporary directory, removed at the end.
class Home {
 public:
  Home();
  ~Home();
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  const std::string& path() const { return path_; }
  HomePaths paths() const { return HomePaths(path_); }
  void Write(const std::string& relative, std::string_view content, unsigned mode = 0600) const;
  std::string Read(const std::string& relative) const;  // "" when absent
  bool Has(const std::string& relative) const;

  Outcome Beige(std::vector<std::string> arguments, std::string_view input = "") const;
  std::vector<std::string> Command(std::vector<std::string> arguments) const;  // with the program and --home

  // Writes an agent's status file as the operator does.
  void WriteStatus(const Agent& agent) const;

 private:
  std::string path_;
};

// `name` as a document; `spec_lines` are indented lines of its spec.
std::string AgentText(const std::string& name, const std::string& spec_lines = "  description: Of the tests\n");

// What AgentText(name) is once the operator runs it: Ready has the status given, all other conditions are True.
Agent ReadyAgent(const std::string& name, Truth ready = Truth::kTrue, const std::string& reason = "RoundTripOK");

std::string TemporaryDirectory();
std::string StandIn(const std::string& name);  // a program of tests/cli/stand_ins

}  // namespace beige::testing

#endif
