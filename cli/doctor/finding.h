#ifndef BEIGE_CLI_DOCTOR_FINDING_H_
#define BEIGE_CLI_DOCTOR_FINDING_H_

#include <string>
#include <vector>

namespace beige::cli {

enum class Level { kOk, kWarn, kFail };  // kFail: agents can't run

// One thing that was looked at.
struct Finding {
  std::string check;    // what, such as "cells" or "engine.docker"
  Level level = Level::kOk;
  std::string message;  // what is
  std::string action;   // what to do; "" when nothing is wrong
};
using Findings = std::vector<Finding>;

inline Finding Ok(std::string check, std::string message) { return {std::move(check), Level::kOk, std::move(message), ""}; }
inline Finding Warn(std::string check, std::string message, std::string action) { return {std::move(check), Level::kWarn, std::move(message), std::move(action)}; }
inline Finding Bad(std::string check, std::string message, std::string action) { return {std::move(check), Level::kFail, std::move(message), std::move(action)}; }

}  // namespace beige::cli

#endif
