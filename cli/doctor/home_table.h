#ifndef BEIGE_CLI_DOCTOR_HOME_TABLE_H_
#define BEIGE_CLI_DOCTOR_HOME_TABLE_H_

#include <string>
#include <vector>

#include "api/paths.h"
#include "cli/doctor/finding.h"

namespace beige::cli {

// Who writes one place of a home, and whether it is so.
struct HomePlace {
  std::string path;      // within the home; "." is the home
  std::string writer;    // you | operator | gateway
  std::string owner;     // name, or the number of a uid without one
  unsigned mode = 0;     // permission bits
  std::string problem;   // "" = as it should be
  std::string action;
};

// Every place that is there. Operator and gateway may have one uid (then the gateway's view keeps it from the rest) or one each: then what
// the operator obeys belongs to root or to whoever owns data/operator, and what the gateway writes to whoever owns data/gateway.
std::vector<HomePlace> LookAtHome(const HomePaths& paths);
Findings JudgeHome(const std::vector<HomePlace>& places);

}  // namespace beige::cli

#endif
