#ifndef BEIGE_TESTS_SUPPORT_TEMP_DIR_H_
#define BEIGE_TESTS_SUPPORT_TEMP_DIR_H_

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/files.h"

namespace beige {

// A directory of one test, removed with everything in it.
class TempDir {
 public:
  TempDir() {
    std::string pattern = "/tmp/beige-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
  }
  ~TempDir() { (void)RemoveTree(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return JoinPath(path_, name); }
  std::string Write(std::string_view name, std::string_view content) const {
    const std::string file = JoinPath(path_, name);
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

 private:
  std::string path_;
};

}  // namespace beige

#endif
