#ifndef BEIGE_CLI_TABLE_H_
#define BEIGE_CLI_TABLE_H_

#include <string>
#include <vector>

#include "base/clock.h"

namespace beige::cli {

// Left-aligned columns with three spaces between them, as kubectl prints; control characters are made visible.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  // A last column is never padded, so that lines have no trailing blanks.
  std::string Render(bool with_header = true) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

// "12s", "5m", "3h", "4d": one unit, rounded down. "<unknown>" for a time that can't be read.
std::string Age(const std::string& rfc3339, SystemTime now);

// Characters, not bytes, of UTF-8 text: the width of a cell.
size_t Width(std::string_view text);

}  // namespace beige::cli

#endif
