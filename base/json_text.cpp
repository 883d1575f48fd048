#include "base/json_text.h"

#include <charconv>

namespace beige {
namespace {
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool Plain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

void AppendEscaped(std::string& out, unsigned char c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  const char text[] = {'\\', 'u', '0', '0', kDigits[c >> 4], kDigits[c & 15]};
  out.append(text, sizeof text);
}

// Length of the valid UTF-8 sequence at `at`, or 0 with `bad` = bytes that one replacement stands for (the maximal invalid part).
size_t Sequence(std::string_view text, size_t at, size_t& bad) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  bad = 1;
  size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;  // no surrogates
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;  // nothing beyond U+10FFFF
  } else {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if (at + i >= text.size() || byte(at + i) < low || byte(at + i) > high) {
      bad = i;
      return 0;
    }
    low = 0x80;
    high = 0xBF;
  }
  return length;
}
}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  size_t at = 0;
  while (at < text.size()) {
    size_t end = at;
    while (end < text.size() && Plain(static_cast<unsigned char>(text[end]))) ++end;
    out.append(text.data() + at, end - at);
    at = end;
    if (at == text.size()) break;
    const auto c = static_cast<unsigned char>(text[at]);
    if (c < 0x80) {
      AppendEscaped(out, c);
      ++at;
      continue;
    }
    size_t bad = 1;
    const size_t length = Sequence(text, at, bad);
    if (length > 0) {
      out.append(text.data() + at, length);
      at += length;
    } else {
      out.append(kReplacement);
      at += bad;
    }
  }
  out += '"';
}

bool JsonDeeperThan(std::string_view text, int most) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > most) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

void AppendNumber(std::string& out, int64_t value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void AppendUnsigned(std::string& out, uint64_t value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

}  // namespace beige
