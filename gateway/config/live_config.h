#ifndef BEIGE_GATEWAY_CONFIG_LIVE_CONFIG_H_
#define BEIGE_GATEWAY_CONFIG_LIVE_CONFIG_H_

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/file_stamp.h"
#include "base/loop.h"
#include "gateway/config/config_set.h"
#include "gateway/config/dir_watch.h"
#include "gateway/config/fingerprint.h"

namespace beige {

// The configuration in force, and its reload when a file changes: all or nothing. On any problem the former set stays in force.
// Addresses of the listeners are read at start only; a change of them is told as a problem while the rest of the set is in force.
// Loop thread only.
class LiveConfig {
 public:
  struct Times {
    std::chrono::milliseconds settle{150};   // files must be still for so long: half-written ones are not read
    std::chrono::milliseconds doubtful{2000};  // gateway.yaml that vanished, is empty or was cut may be in the middle of being written
    std::chrono::milliseconds poll{5000};    // for what inotify can't see
  };
  // `applied` runs after each set that came into force (not for the one of Start). `problems` runs when what is wrong has changed.
  struct Callbacks {
    std::function<void(const ConfigSet&)> applied;
    std::function<void(const std::vector<std::string>& problems)> problems;
  };

  LiveConfig(Loop& loop, HomePaths paths, EnvLookup env, Times times, Callbacks callbacks);

  // Loads and begins to watch. With problems the last good set is taken; without one the problems are the answer and nothing runs.
  std::vector<Problem> Start();
  void Watch();  // after Start: changes are noticed from here on

  const ConfigSet& current() const { return current_; }
  const std::vector<std::string>& problems() const { return problems_; }
  // Loads now if a file differs from what was loaded last; true when a new set came into force.
  bool ReloadIfChanged();

 private:
  void Changed();
  void Settle();
  Loaded<ConfigSet> Load(std::set<std::string>& files);  // `files`: what it read
  void Adopt(ConfigSet set);
  void WatchFiles(const std::set<std::string>& also);
  void SetProblems(std::vector<std::string> problems);

  Loop& loop_;
  const HomePaths paths_;
  const EnvLookup env_;
  const Times times_;
  const Callbacks callbacks_;
  ConfigSet current_;
  std::vector<std::string> problems_;
  WatchedFiles watched_;
  std::string loaded_fingerprint_;   // of the files as the last load found them
  std::string settling_fingerprint_;
  FileStamp loaded_stamp_;           // of gateway.yaml
  bool failed_ = false;              // the last load had problems
  Timer settle_;
  Timer poll_;
  std::unique_ptr<DirWatch> dir_watch_;
};

}  // namespace beige

#endif
