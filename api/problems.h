#ifndef BEIGE_API_PROBLEMS_H_
#define BEIGE_API_PROBLEMS_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/load.h"
#include "api/yaml_node.h"

namespace beige {

inline constexpr const char* kInvalidSpec = "InvalidSpec";
inline constexpr const char* kUnknownField = "UnknownField";

// Collects what is wrong with one document: one problem a place (the first counts), at most kMost, so that a hostile file can't make a
// report of a gigabyte.
class Problems {
 public:
  static constexpr size_t kMost = 100;

  explicit Problems(std::string file, std::vector<Problem> known = {}) : file_(std::move(file)), list_(std::move(known)) {}

  void Add(Mark mark, std::string path, std::string message, const char* reason = kInvalidSpec) {
    if (list_.size() >= kMost) return;
    if (path.size() > 200) path = path.substr(0, 197) + "...";
    for (const Problem& known : list_) {
      if (known.path == path && known.line == mark.line && known.column == mark.column) return;
    }
    list_.push_back({file_, mark.line, mark.column, std::move(path), std::move(message), reason});
  }
  // "want ..., got ...".
  void Want(const YamlNode& node, std::string path, const std::string& wanted) { Add(node.mark, std::move(path), "want " + wanted + ", got " + Shown(node)); }

  bool empty() const { return list_.empty(); }
  bool full() const { return list_.size() >= kMost; }
  const std::string& file() const { return file_; }
  // In the order of the file.
  std::vector<Problem> Take() {
    std::stable_sort(list_.begin(), list_.end(), [](const Problem& a, const Problem& b) { return std::pair(a.line, a.column) < std::pair(b.line, b.column); });
    return std::move(list_);
  }

 private:
  std::string file_;
  std::vector<Problem> list_;
};

}  // namespace beige

#endif
