#ifndef BEIGE_TESTS_GATEWAY_OUTER_TEMP_HOME_H_
#define BEIGE_TESTS_GATEWAY_OUTER_TEMP_HOME_H_

#include <string>

#include "api/paths.h"
#include "base/files.h"
#include "tests/support/temp_dir.h"

namespace beige::gateway_test {

// A home of its own under /tmp (short, for socket paths), removed at the end.
class TempHome : public TempDir {
 public:
  HomePaths paths() const { return HomePaths(path()); }
  // Writes <home>/<name>, making its folders.
  std::string Write(const std::string& name, std::string_view content, mode_t mode = 0644) const {
    const std::string file = path() + "/" + name;
    (void)MakeDirs(file.substr(0, file.rfind('/')), 0755);
    (void)WriteFileAtomic(file, content, mode);
    return file;
  }
};

}  // namespace beige::gateway_test

#endif
