// The parts of a request that need no server: its headers and its path.
#include <algorithm>

#include "http/http_server.h"

namespace beige::http {
namespace {
int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
}  // namespace

std::string_view Request::Header(std::string_view lower_case_name) const {
  const auto it = std::find_if(headers.begin(), headers.end(), [&](const auto& header) { return header.first == lower_case_name; });
  return it == headers.end() ? std::string_view() : std::string_view(it->second);
}

Result<std::string> DecodeSegment(std::string_view segment) {
  std::string out;
  for (size_t i = 0; i < segment.size(); ++i) {
    char c = segment[i];
    if (c == '%') {
      const int high = i + 2 < segment.size() ? HexValue(segment[i + 1]) : -1;
      const int low = i + 2 < segment.size() ? HexValue(segment[i + 2]) : -1;
      if (high < 0 || low < 0) return Fail(Code::kInvalid, "path: a % must be followed by two hexadecimal digits");
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0' || c == '/') return Fail(Code::kInvalid, "path: a segment can't contain an encoded NUL or slash");
    out += c;
  }
  if (out == "." || out == "..") return Fail(Code::kInvalid, "path: a segment can't be . or ..");
  return out;
}

std::vector<std::string_view> SplitPath(std::string_view path) {
  std::vector<std::string_view> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (!path.empty()) {
    const size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
    if (path.empty()) segments.emplace_back();  // a trailing slash is an empty segment, not the same path
  }
  return segments;
}

}  // namespace beige::http
