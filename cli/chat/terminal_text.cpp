#include "cli/chat/terminal_text.h"

#include <algorithm>
#include <cstdio>

#include "cli/report.h"
#include "cli/table.h"

namespace beige::cli {
namespace {
// Bytes at the end that begin a character which is not whole yet.
size_t OpenTail(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto u = static_cast<unsigned char>(text[text.size() - back]);
    if ((u & 0xc0) == 0x80) continue;
    const size_t length = u >= 0xf0 ? 4 : u >= 0xe0 ? 3 : u >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

std::string Clean(std::string_view text) {
  std::string out;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != '\n' && text[i] != '\t' && text[i] != '\r') continue;
    out += Printable(text.substr(start, i - start));
    if (i < text.size()) out += text[i] == '\r' ? '\n' : text[i];
    if (i + 1 < text.size() && text[i] == '\r' && text[i + 1] == '\n') ++i;
    start = i + 1;
  }
  return out;
}

std::string Scaled(double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, value < 99.95 ? "%.1f%s" : "%.0f%s", value, unit);
  return text;
}
}  // namespace

std::string TerminalText::Feed(std::string_view piece) {
  held_.append(piece);
  size_t keep = OpenTail(held_);
  if (keep == 0 && held_.ends_with('\r')) keep = 1;  // a newline may follow
  const std::string out = Clean(std::string_view(held_).substr(0, held_.size() - keep));
  held_.erase(0, held_.size() - keep);
  return out;
}

std::string TerminalText::End() {
  const std::string out = Clean(held_);
  held_.clear();
  return out;
}

std::string ForTerminal(std::string_view text) { return Clean(text); }

std::string Cut(std::string_view text, size_t width) {
  if (Width(text) <= width) return std::string(text);
  size_t end = 0;
  size_t characters = 0;
  for (; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) continue;
    if (++characters > (width > 3 ? width - 3 : 1)) break;
  }
  return std::string(text.substr(0, end)) + "...";
}

std::string CountText(int64_t count) {
  const auto value = static_cast<double>(count);
  return count < 1000 ? std::to_string(count) : count < 1'000'000 ? Scaled(value / 1e3, "k") : Scaled(value / 1e6, "M");
}

std::string BytesText(int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  return bytes < 1000 ? std::to_string(bytes) + " bytes" : bytes < 1'000'000 ? Scaled(value / 1e3, " KB") : Scaled(value / 1e6, " MB");
}

std::string CostText(double usd) {
  if (usd <= 0) return "";
  char text[48];
  std::snprintf(text, sizeof text, usd < 0.995 ? "$%.4f" : "$%.2f", usd);
  return text;
}

Palette Palette::Of(bool colour) { return colour ? Palette{"\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[0m"} : Palette{}; }

std::string DiffText(std::string_view diff, const Palette& palette, size_t most) {
  std::string out;
  size_t lines = 0;
  while (!diff.empty()) {
    const size_t end = std::min(diff.find('\n'), diff.size());
    const std::string_view line = diff.substr(0, end);
    diff.remove_prefix(std::min(end + 1, diff.size()));
    if (++lines > most) continue;
    const char* colour = line.starts_with("@@") ? palette.cyan : line.starts_with('+') ? palette.green : line.starts_with('-') ? palette.red : palette.dim;
    out += std::string("  ") + colour + ForTerminal(line) + palette.off + "\n";
  }
  if (lines > most) out += std::string("  ") + palette.dim + "... " + std::to_string(lines - most) + " more lines" + palette.off + "\n";
  return out;
}

}  // namespace beige::cli
