#include "cli/table.h"

#include <algorithm>

#include "cli/report.h"

namespace beige::cli {

size_t Width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string Table::Render(bool with_header) const {
  std::vector<std::vector<std::string>> lines;
  if (with_header) lines.push_back(header_);
  for (const auto& row : rows_) {
    std::vector<std::string> cells;
    for (const auto& cell : row) cells.push_back(Printable(cell));
    lines.push_back(std::move(cells));
  }
  std::vector<size_t> widths(header_.size(), 0);
  for (size_t i = 0; i < header_.size(); ++i) widths[i] = header_[i].size();
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size() && i < widths.size(); ++i) widths[i] = std::max(widths[i], Width(line[i]));
  }
  std::string out;
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      out += line[i];
      if (i + 1 < line.size()) out += std::string(widths[i] - Width(line[i]) + 3, ' ');
    }
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
  }
  return out;
}

std::string Age(const std::string& rfc3339, SystemTime now) {
  const auto time = ParseTime(rfc3339);
  if (!time) return "<unknown>";
  const auto seconds = std::max<long long>(0, std::chrono::duration_cast<std::chrono::seconds>(now - *time).count());
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (seconds < 120 * 60) return std::to_string(seconds / 60) + "m";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + "h";
  return std::to_string(seconds / 86400) + "d";
}

}  // namespace beige::cli
