#ifndef BEIGE_GATEWAY_PUBLISH_ENTRIES_H_
#define BEIGE_GATEWAY_PUBLISH_ENTRIES_H_

#include <set>
#include <string>

#include "base/result.h"

namespace beige {

// The entries of one published directory. They are built in a stage beside it (same file system, not mounted anywhere) and appear,
// change and vanish by one rename each, so that nobody inside ever sees half of one.
class Entries {
 public:
  // Makes both directories when missing; `directory` gets mode 0755.
  static Result<Entries> Open(std::string directory, std::string stage);

  std::string NewStagePath() const;  // a name that does not exist yet
  // Puts what lies at `staged` in place of entry `name`, whatever was there; the former one is removed.
  Result<> Put(const std::string& name, const std::string& staged) const;
  Result<> Remove(const std::string& name) const;
  Result<> RemoveAllBut(const std::set<std::string>& wanted) const;
  std::string PathOf(const std::string& name) const;

 private:
  Entries(std::string directory, std::string stage) : directory_(std::move(directory)), stage_(std::move(stage)) {}
  std::string directory_;
  std::string stage_;
};

// A name that is safe as an entry: one path component, not hidden.
bool IsEntryName(const std::string& name);

}  // namespace beige

#endif
