#ifndef BEIGE_TESTS_GATEWAY_OUTER_TEMP_HOME_H_
#define BEIGE_TESTS_GATEWAY_OUTER_TEMP_HOME_H_

#include <cstdlib>
#include <string>

#include "api/paths.h"
#include "base/files.h"

namespace beige::gateway_test {

// A home of its own under /tmp (short, for socket paths), removed at the end.
class TempHome {
 public:
  TempHome() {
    char name[] = "/tmp/beige-gw-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~TempHome() { (void)RemoveTree(path_); }
  TempHome(const TempHome&) = delete;
  TempHome& operator=(const TempHome&) = delete;

  const std::string& path() const { return path_; }
  HomePaths paths() const { return HomePaths(path_); }
  // Writes <home>/<name>, making its folders.
  std::string Write(const std::string& name, std::string_view content, mode_t mode = 0644) const {
    const std::string file = path_ + "/" + name;
    (void)MakeDirs(file.substr(0, file.rfind('/')), 0755);
    (void)WriteFileAtomic(file, content, mode);
    return file;
  }

 private:
  std::string path_;
};

}  // namespace beige::gateway_test

#endif
