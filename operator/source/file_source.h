#ifndef BEIGE_OPERATOR_SOURCE_FILE_SOURCE_H_
#define BEIGE_OPERATOR_SOURCE_FILE_SOURCE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/loop.h"
#include "operator/source/file_table.h"
#include "operator/source/inotify.h"
#include "operator/source/merge.h"
#include "operator/source/removal_hold.h"
#include "operator/source/snapshot.h"

namespace beige {

// Agents from the files of one directory. inotify makes it quick, the poll makes it sure (and is the only way when inotify instances are
// used up). Lives on its loop's thread. Delivers a complete snapshot after the first successful look and then whenever it differs.
class FileSource {
 public:
  struct Options {
    std::chrono::milliseconds debounce{20};
    std::chrono::milliseconds poll{5000};
    bool use_inotify = true;
  };
  using OnSnapshot = std::function<void(const Snapshot&)>;

  FileSource(Loop& loop, const Clock& clock, std::string directory, Options options, OnSnapshot on_snapshot);

  void Seed(const std::vector<KnownAgent>& known);  // before Start
  void Start();                                     // looks once, at once, and keeps looking
  void Scan();                                      // one look now; what Start's timers call and tests step
  bool polling_only() const { return !inotify_.is_open(); }

 private:
  void OpenInotify();
  void OnInotify();
  void RefreshWatches();

  Loop& loop_;
  const Clock& clock_;
  const std::string directory_;
  const Options options_;
  const OnSnapshot on_snapshot_;
  FileTable table_;
  Merger merger_;
  RemovalHold hold_;
  Snapshot last_;
  bool delivered_ = false;
  bool said_unreadable_ = false;
  bool said_polling_ = false;
  bool scan_pending_ = false;
  std::set<std::string> writing_;  // names in directory_ that somebody has open for writing
  Inotify inotify_;
  std::unique_ptr<FdWatch> watch_;
  Timer debounce_;
  Timer wake_;
  Timer poll_;
};

}  // namespace beige

#endif
