#include "gateway/http/turn_filter.h"

#include <nlohmann/json.hpp>

namespace beige {
namespace {
std::string PromptIn(const std::string& data) {
  const auto object = nlohmann::json::parse(data, nullptr, /*allow_exceptions=*/false);
  const auto prompt = object.is_object() ? object.find("prompt") : object.end();
  return object.is_object() && prompt != object.end() && prompt->is_string() ? prompt->get<std::string>() : std::string();
}
}  // namespace

bool TurnFilter::Wants(const sessions::Event& event) {
  if (event.name == "reset") return true;
  if (event.prompt == prompt_) {
    if (event.name == "turn") turn_ = prompt_;
    return true;
  }
  if (!turn_.empty()) return event.prompt == turn_;
  if (event.name != "steer" || PromptIn(event.data) != prompt_) return false;
  turn_ = event.prompt;
  return true;
}

}  // namespace beige
