#include "cli/documents.h"

namespace beige::cli {
namespace {
bool IsSeparator(std::string_view line) {
  return line.starts_with("---") && (line.size() == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\r');
}
bool IsEnd(std::string_view line) { return line.starts_with("...") && line.find_first_not_of(" \t\r", 3) == std::string_view::npos; }

bool IsBlank(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return false;
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return true;
}
}  // namespace

std::vector<std::string> SplitDocuments(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<std::string> documents;
  std::string current;
  const auto finish = [&] {
    if (!IsBlank(current)) documents.push_back(current);
    current.clear();
  };
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (IsSeparator(line)) {
      finish();
      // `--- {a: 1}`: the document starts on the separator's own line.
      if (line.find_first_not_of(" \t\r", 3) != std::string_view::npos) current = std::string(line.substr(4)) + "\n";
    } else if (IsEnd(line)) {
      finish();
    } else {
      current += line;
      current += '\n';
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  finish();
  return documents;
}

}  // namespace beige::cli
