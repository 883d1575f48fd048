#include "runtime/engine/errors.h"

#include <nlohmann/json.hpp>

namespace beige::runtime::engine {

std::string ErrorText(std::string_view body) {
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (json.is_object()) {
    for (const char* key : {"message", "cause", "error"}) {
      if (const auto it = json.find(key); it != json.end() && it->is_string() && !it->get_ref<const std::string&>().empty()) {
        return it->get<std::string>();
      }
    }
  }
  std::string text(body.substr(0, 500));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

Code CodeOfStatus(int status, std::string_view text) {
  switch (status) {
    case 400: return Code::kInvalid;
    case 401:
    case 403: return Code::kDenied;
    case 404: return Code::kNotFound;
    case 409: return Code::kConflict;
    case 429: return Code::kExhausted;
    case 503: return Code::kUnavailable;
    default: break;
  }
  if (status >= 500 && text.find("already in use") != std::string_view::npos) return Code::kConflict;
  return Code::kInternal;
}

}  // namespace beige::runtime::engine
