#include <nlohmann/json.hpp>

#include "api/load.h"

namespace beige {
namespace {

using Json = nlohmann::ordered_json;

bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '/'; }
bool IsWordPart(char c) { return IsWordStart(c) || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '@' || c == ':' || c == ',' || c == '(' || c == ')' || c == ' '; }

// Plain only where no YAML version reads anything but this string: starts with a letter, no ": ", " #" or odd character, none of the
// words that are booleans or null somewhere.
bool IsPlain(const std::string& text) {
  if (text.empty() || text.size() > 200 || !IsWordStart(text[0]) || text.back() == ' ' || text.back() == ':') return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!IsWordPart(text[i])) return false;
    if (text[i] == ':' && text[i + 1] == ' ') return false;
  }
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (const char* word : {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}) {
    if (lower == word) return false;
  }
  return true;
}

// Several lines of ordinary text, which a literal block keeps exactly.
bool IsBlock(const std::string& text) {
  if (text.find('\n') == std::string::npos || text[0] == ' ' || text[0] == '\n') return false;
  if (text.ends_with("\n\n")) return false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte >= 0x7f) return false;
  }
  return true;
}

std::string Quoted(const Json& value) {
  // A JSON string is a YAML double-quoted scalar, but for DEL and the C1 range, which YAML wants escaped; ensure_ascii covers all.
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool c1 = text[i] == '\xc2' && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (text[i] == '\x7f' || c1) return value.dump(-1, ' ', true, Json::error_handler_t::replace);
  }
  return text;
}

std::string Scalar(const Json& value, int indent) {
  if (value.is_object()) return "{}";
  if (value.is_array()) return "[]";
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  if (IsPlain(text)) return text;
  if (!IsBlock(text)) return Quoted(value);
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string out = text.back() == '\n' ? "|" : "|-";
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += "\n" + (end > at ? margin : std::string()) + text.substr(at, end - at);
    at = end + 1;
  }
  return out;
}

bool IsNested(const Json& value) { return value.is_structured() && !value.empty(); }

void Emit(const Json& value, int indent, bool continued, std::string& out) {
  const std::string margin(static_cast<size_t>(indent), ' ');
  bool first = true;
  const auto start = [&] {
    if (!(first && continued)) out += margin;
    first = false;
  };
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) {
      start();
      out += (IsPlain(key) ? key : Quoted(Json(key))) + ":";
      if (IsNested(item)) {
        out += "\n";
        // Lists stand at the indent of their key, as kubectl prints them.
        Emit(item, item.is_array() ? indent : indent + 2, false, out);
      } else {
        out += " " + Scalar(item, indent + 2) + "\n";
      }
    }
  } else {
    for (const Json& item : value) {
      start();
      out += "- ";
      if (IsNested(item)) {
        Emit(item, indent + 2, true, out);
      } else {
        out += Scalar(item, indent + 2) + "\n";
      }
    }
  }
}

}  // namespace

std::string JsonToYaml(std::string_view text) {
  const Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) return std::string(text);
  if (!IsNested(value)) return Scalar(value, 2) + "\n";
  std::string out;
  Emit(value, 0, false, out);
  return out;
}

}  // namespace beige
