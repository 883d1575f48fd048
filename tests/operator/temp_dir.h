#ifndef BEIGE_TESTS_OPERATOR_TEMP_DIR_H_
#define BEIGE_TESTS_OPERATOR_TEMP_DIR_H_

#include <string>

#include "tests/support/temp_dir.h"

namespace beige::testing {

using beige::TempDir;

inline std::string AgentYaml(const std::string& name, const std::string& spec = "  description: test\n") {
  return "apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata:\n  name: " + name + "\nspec:\n" + spec;
}

}  // namespace beige::testing

#endif
