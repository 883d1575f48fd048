#ifndef BEIGE_TESTS_OPERATOR_TEMP_DIR_H_
#define BEIGE_TESTS_OPERATOR_TEMP_DIR_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/files.h"

namespace beige::testing {

// A directory that goes with the test.
class TempDir {
 public:
  TempDir() {
    std::string pattern = ::testing::TempDir() + "beige-op-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() { (void)RemoveTree(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Truncates and writes, as many editors do.
  void Write(const std::string& name, const std::string& text) const { std::ofstream(path_ + "/" + name) << text; }

 private:
  std::string path_;
};

inline std::string AgentYaml(const std::string& name, const std::string& spec = "  description: test\n") {
  return "apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata:\n  name: " + name + "\nspec:\n" + spec;
}

}  // namespace beige::testing

#endif
