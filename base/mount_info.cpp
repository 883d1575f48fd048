#include "base/mount_info.h"

#include <algorithm>
#include <charconv>

namespace beige {

namespace {

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> out;
  for (;;) {
    const size_t start = text.find_first_not_of(separator);
    if (start == std::string_view::npos) return out;
    const size_t end = std::min(text.find(separator, start), text.size());
    out.emplace_back(text.substr(start, end - start));
    text.remove_prefix(end);
  }
}

uint64_t Number(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// mountinfo writes space, tab, newline and backslash as three octal digits.
std::string Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

bool MountInfo::Has(std::string_view option) const { return std::find(options.begin(), options.end(), option) != options.end(); }

std::vector<MountInfo> ParseMountInfo(std::string_view text) {
  std::vector<MountInfo> out;
  for (const std::string& line : Split(text, '\n')) {
    // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
    const std::vector<std::string> words = Split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 9 || words.end() - dash < 3) continue;
    MountInfo mount;
    mount.id = Number(words[0]);
    mount.device = words[2];
    mount.root = Unescape(words[3]);
    mount.point = Unescape(words[4]);
    mount.options = Split(words[5], ',');
    for (auto tag = words.begin() + 6; tag < dash; ++tag) mount.propagates |= tag->starts_with("shared:") || tag->starts_with("master:");
    mount.fs_type = dash[1];
    mount.super_options = Split(words.back(), ',');
    out.push_back(std::move(mount));
  }
  return out;
}

}  // namespace beige
