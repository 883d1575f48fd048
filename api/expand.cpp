#include "api/expand.h"

#include <cstdlib>

namespace beige {

EnvLookup ProcessEnv() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  };
}

Result<std::string> Expand(std::string_view text, const EnvLookup& lookup) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      out += text[i];
      continue;
    }
    if (text.substr(i).starts_with("$$")) {
      out += '$';
      ++i;
      continue;
    }
    const size_t end = text.find('}', i);
    const bool braces = text.substr(i).starts_with("${") && end != std::string_view::npos;
    const std::string name = braces ? std::string(text.substr(i + 2, end - i - 2)) : "";
    const bool valid = !name.empty() && name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos &&
                       !(name[0] >= '0' && name[0] <= '9');
    if (!valid) return Fail(Code::kInvalid, "${NAME} for a variable, or $$ for the sign itself");
    const std::optional<std::string> value = lookup(name);
    if (!value) return Fail(Code::kNotFound, name);
    out += *value;
    i = end;
  }
  return out;
}

}  // namespace beige
