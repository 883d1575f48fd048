#include "gateway/sessions/json_line.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace beige::sessions {

JsonLine& JsonLine::Of(const llm::Usage& usage) {
  Number("input", usage.input).Number("output", usage.output).Number("cacheRead", usage.cache_read).Number("cacheWrite", usage.cache_write);
  return Raw("costUsd", fmt::format("{:.6f}", usage.cost_usd));
}

std::string OneLine(const std::string& object) {
  using nlohmann::ordered_json;
  const ordered_json value = ordered_json::parse(object, nullptr, false);
  return value.is_object() ? value.dump(-1, ' ', false, ordered_json::error_handler_t::replace) : "{}";
}

}  // namespace beige::sessions
