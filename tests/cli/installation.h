#ifndef BEIGE_TESTS_CLI_INSTALLATION_H_
#define BEIGE_TESTS_CLI_INSTALLATION_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "home.h"

namespace beige::testing {

// The beige program beside small real processes in place of gateway and operator, and a home; all of it goes down at the end.
class Installation {
 public:
  Installation();
  ~Installation();

  const Home& home() const { return home_; }
  std::vector<std::string> Command(std::vector<std::string> arguments) const;
  Outcome Beige(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {}) const;
  nlohmann::json Json(const std::string& relative) const;
  pid_t Pid(const std::string& key) const;  // of run/up.json: pid, gatewayPid, operatorPid; 0 when unknown
  static std::string NameOf(pid_t pid);     // "" when it has ended
  bool AnswersWithNewPid(const std::string& key, pid_t old) const;

 private:
  std::string bin_;
  Home home_;
};

bool CanMakeUserNamespaces();

}  // namespace beige::testing

#endif
