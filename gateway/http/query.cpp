#include "gateway/http/query.h"

#include <algorithm>
#include <charconv>

#include "api/suggest.h"
#include "api/utf8.h"

namespace beige {
namespace {
int Hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool Decode(std::string_view text, std::string& out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? Hex(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? Hex(text[i + 2]) : -1;
    if (high < 0 || low < 0) return false;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return FindInvalidUtf8(out) == std::string_view::npos;
}
}  // namespace

BodyResult<std::map<std::string, std::string>> DecodeQuery(std::string_view query, const std::vector<std::string>& known) {
  std::map<std::string, std::string> values;
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    std::string name, value;
    if (!Decode(pair.substr(0, equals), name) || (equals != std::string_view::npos && !Decode(pair.substr(equals + 1), value))) {
      return BadField("query", "want NAME=VALUE in UTF-8, with % before two hexadecimal digits");
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string near = Nearest(name, known);
      return BadField(name, "no such parameter of this route" + (near.empty() ? std::string() : "; did you mean " + near + "?"));
    }
    if (!values.emplace(name, std::move(value)).second) return BadField(name, "is given twice");
  }
  return values;
}

BodyResult<size_t> NumberOf(const std::map<std::string, std::string>& query, const char* name, size_t most) {
  const auto found = query.find(name);
  if (found == query.end()) return 0u;
  const std::string& text = found->second;
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || number > most) {
    return BadField(name, "want a number from 0 to " + std::to_string(most) + ", got \"" + text.substr(0, 100) + "\"");
  }
  return number;
}

}  // namespace beige
