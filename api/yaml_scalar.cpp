#include <charconv>

#include "api/yaml_reader.h"

namespace beige {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Length of the digits at `at`.
size_t Digits(std::string_view text, size_t at) {
  size_t n = 0;
  while (at + n < text.size() && IsDigit(text[at + n])) ++n;
  return n;
}

// YAML 1.2 core: [-+]? (\.[0-9]+ | [0-9]+(\.[0-9]*)?) ([eE][-+]?[0-9]+)?
bool IsNumber(std::string_view text, bool& whole) {
  size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const size_t before = Digits(text, at);
  at += before;
  whole = at == text.size() && before > 0;
  size_t after = 0;
  if (at < text.size() && text[at] == '.') {
    after = Digits(text, ++at);
    at += after;
  }
  if (before + after == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    const size_t exponent = Digits(text, at);
    if (exponent == 0) return false;
    at += exponent;
  }
  return at == text.size();
}

bool OneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text == word) return true;
  }
  return false;
}

// 0644, 0o17, 0b1 and 1_000 are numbers to one version of YAML and text (or another number) to the next.
bool IsAmbiguousNumber(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.size() < 2 || !IsDigit(text[0])) return false;
  if (text[0] == '0') {
    if (text[1] == 'o' || text[1] == 'b') {
      return text.size() > 2 && text.find_first_not_of("01234567_", 2) == std::string_view::npos;
    }
    if (Digits(text, 0) == text.size()) return true;
  }
  return text.find('_') != std::string_view::npos && text.find_first_not_of("0123456789_.") == std::string_view::npos;
}

}  // namespace

std::string ResolvePlain(const std::string& text, YamlNode& out) {
  out.text = text;
  if (OneOf(text, {"", "~", "null", "Null", "NULL"})) {
    out.kind = YamlNode::Kind::kNull;
    return "";
  }
  if (OneOf(text, {"true", "True", "TRUE", "false", "False", "FALSE"})) {
    out.kind = YamlNode::Kind::kBool;
    out.boolean = text[0] == 't' || text[0] == 'T';
    return "";
  }
  if (OneOf(text, {"yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF"})) {
    out.kind = YamlNode::Kind::kString;
    return text + " is a boolean to some readers of YAML and text to others; write true or false, or put it in quotes";
  }
  if (OneOf(text, {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"})) {
    out.kind = YamlNode::Kind::kFloat;
    return text + " is not a finite number";
  }
  if (IsAmbiguousNumber(text)) {
    out.kind = YamlNode::Kind::kInt;
    return text + " is not the same number to all readers of YAML; write it in decimal without leading zeros and underscores, or put it in quotes";
  }
  bool whole = false;
  if (IsNumber(text, whole)) {
    const char* begin = text.data() + (text[0] == '+' ? 1 : 0);
    const char* end = text.data() + text.size();
    out.kind = whole && std::from_chars(begin, end, out.integer).ptr == end && std::from_chars(begin, end, out.integer).ec == std::errc() ? YamlNode::Kind::kInt
                                                                                                                                         : YamlNode::Kind::kFloat;
    return "";
  }
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 2, end, out.integer, 16);
    if (stop == end && error == std::errc()) {
      out.kind = YamlNode::Kind::kInt;
      return "";
    }
  }
  out.kind = YamlNode::Kind::kString;
  return "";
}

}  // namespace beige
