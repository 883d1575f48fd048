#ifndef BEIGE_E2E_ESCAPE_ROGUE_H_
#define BEIGE_E2E_ESCAPE_ROGUE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "e2e/home.h"

namespace beige::e2e {

// One home for all attacks: agent `rogue`, in whose workspace lies the program of attacker.c, and agent `neighbour`, who must not notice.
// Tools: hello (both); probe, which runs its argument as a script in the cell (rogue only); vault, which has a secret (both); vcs, which runs its argument
// as a script in the workspace (rogue only).
class EscapeTest : public ::testing::Test {
 protected:
  static constexpr char kHostCanary[] = "host-canary-5d41402abc4b";  // in the environment of `beige up`
  static constexpr char kToolSecret[] = "vault-canary-7d793037a076";

  static void SetUpTestSuite();
  static void TearDownTestSuite();

  // The attacker in rogue's sandbox; 1 = everything was refused, 0 = something worked, and its output says what.
  static Outcome Attack(std::vector<std::string> args);
  // The same as a tool of rogue's, within a cell.
  static Outcome AttackFromTool(const std::string& arguments);
  static void ExpectRefused(std::vector<std::string> args);
  // Works now, and in the same container as before.
  static void ExpectAlive(const std::string& container);
  static void ExpectNeighbourWorks();
  static pid_t GatewayPid();
  static void KillGateway();

  static std::unique_ptr<Home> home;
};

}  // namespace beige::e2e

#endif
