#include "api/load.h"

namespace beige {

std::string Problem::ToString() const {
  std::string out = file;
  if (line > 0) out += ":" + std::to_string(line) + (column > 0 ? ":" + std::to_string(column) : "");
  if (!out.empty()) out += ": ";
  if (!path.empty()) out += path + ": ";
  return out + message;
}

std::string Join(const std::vector<Problem>& problems, std::string_view separator) {
  std::string out;
  for (const Problem& problem : problems) {
    if (!out.empty()) out += separator;
    out += problem.ToString();
  }
  return out;
}

}  // namespace beige
