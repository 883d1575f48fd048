#ifndef BEIGE_OPERATOR_SOURCE_FILE_TABLE_H_
#define BEIGE_OPERATOR_SOURCE_FILE_TABLE_H_

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/load.h"
#include "base/clock.h"
#include "base/file_stamp.h"
#include "base/result.h"

namespace beige {

// True for a name that is read: *.yaml, *.yml, *.json; not dotfiles, backups (x~) or autosaves (#x#).
bool IsAgentFileName(const std::string& name);

// One file as far as it is believed.
struct FileView {
  std::vector<LoadedAgent> agents;
  std::vector<Problem> problems;   // of the file as a whole; then `agents` are those of its last good content
  std::set<AgentKey> lingering;    // were in the file and are kept for now: it may be half written, or an entry's name can't be read
};

// The files of one directory: reads what changed, and doubts what looks like a write that has not ended.
// - a file that another process is writing (see `writing`) is left as it was until it has been quiet for kSettle;
// - agents that an existing file no longer names stay until it has been unchanged for kSettle;
// - a file that is broken as a whole keeps its last agents for as long as it is broken;
// - a file that can't be looked at (a dangling link, an absent server) is broken in this sense, too;
// - a file that is gone keeps its agents for kMissing, since editors rename and write anew.
class FileTable {
 public:
  static constexpr std::chrono::milliseconds kSettle{2000};
  static constexpr std::chrono::milliseconds kMissing{250};
  static constexpr size_t kMaxBytes = 4u << 20;

  FileTable(std::string directory, const Clock& clock) : directory_(std::move(directory)), clock_(clock) {}

  // Before the first scan: `file` defined these agents when an earlier run saw it.
  void Seed(const std::string& file, const std::set<AgentKey>& keys);

  // One look at the directory. The time at which a doubt ends, if there is one: scan again then. An error (the directory is gone or
  // can't be read) changes nothing. `writing`: names that are open for writing, as inotify tells.
  Result<std::optional<SteadyTime>> Scan(const std::set<std::string>& writing);

  const std::map<std::string, FileView>& views() const { return views_; }  // by path
  // Real directories of files that are links into elsewhere, to be watched too.
  const std::set<std::string>& link_targets() const { return link_targets_; }

 private:
  struct Entry {
    FileStamp signature;
    SteadyTime changed_at{};
    std::optional<SteadyTime> missing_since;
    bool unread = true;     // the signature's content has not been taken over
    bool doubtful = false;  // has agents that linger for a time
  };

  void Take(const std::string& path, Entry& entry, FileView& view);
  FileStamp Look(const std::string& path);

  std::string directory_;
  const Clock& clock_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, FileView> views_;
  std::set<std::string> link_targets_;
};

}  // namespace beige

#endif
