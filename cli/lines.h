#ifndef BEIGE_CLI_LINES_H_
#define BEIGE_CLI_LINES_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "cli/watch.h"

namespace beige::cli {

using LineFilter = std::function<bool(const std::string&)>;

// The last `count` whole lines that pass the filter, oldest first, read backwards from the ends of the files; `files` are oldest first.
// Absent files are skipped. `end` takes the size up to which the last file was read.
std::vector<std::string> TailLines(const std::vector<std::string>& files, size_t count, const LineFilter& filter, off_t* end = nullptr);

// Follows a file that others append to and rename away: gives the new whole lines, of the renamed file to its end and then of the new one.
class LineFollower {
 public:
  LineFollower(std::string path, off_t start) : path_(std::move(path)), offset_(start) {}
  std::vector<std::string> Read();
  const std::string& path() const { return path_; }

 private:
  void ReadOpen(std::vector<std::string>& lines);

  std::string path_;
  off_t offset_;
  UniqueFd fd_;
  std::string partial_;
};

// Calls `print` with each new line of each file until the program is ended.
void Follow(std::vector<LineFollower> files, const std::function<void(size_t file, const std::string& line)>& print);

}  // namespace beige::cli

#endif
