#ifndef BEIGE_CLI_DOCTOR_LIMITS_H_
#define BEIGE_CLI_DOCTOR_LIMITS_H_

#include <cstdint>
#include <string>

#include "cli/doctor/finding.h"

namespace beige::cli {

// What the machine gives and what a home of `agents` agents needs; pure, so that tests can ask about other machines.
struct LimitFacts {
  uint64_t descriptors = 0;         // hard RLIMIT_NOFILE: both processes raise theirs to it
  uint64_t inotify_instances = 0;   // fs.inotify.max_user_instances
  uint64_t inotify_used = 0;        // by this user, as far as can be seen
  uint64_t inotify_watches = 0;
  uint64_t disk_free = 0;           // bytes, for this user, where the home is or will be
  uint64_t files_free = 0;          // inodes
  size_t agents = 0;
  size_t tools = 0;                 // grants of tools, over all agents
};
LimitFacts ReadLimits(const std::string& home);
Findings JudgeLimits(const LimitFacts& facts);

// Descriptors that the gateway may need at one time.
uint64_t DescriptorsNeeded(size_t agents, size_t tools);

}  // namespace beige::cli

#endif
