#include "gateway/sessions/json_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/utf8.h"

namespace beige::sessions {
namespace {
constexpr int kMaxDepth = 64;
}

JsonLine& JsonLine::Of(const llm::Usage& usage) {
  Number("input", usage.input).Number("output", usage.output).Number("cacheRead", usage.cache_read).Number("cacheWrite", usage.cache_write);
  return Raw("costUsd", fmt::format("{:.6f}", usage.cost_usd));
}

std::string Shortened(const std::string& object, size_t limit) {
  using nlohmann::ordered_json;
  ordered_json value = JsonDeeperThan(object, kMaxDepth) ? ordered_json() : ordered_json::parse(object, nullptr, false);
  if (!value.is_object()) return "{}";
  const auto dump = [&] { return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace); };
  std::string line = dump();
  if (line.size() <= limit) return line;
  const size_t each = std::max<size_t>(64, limit / (value.size() + 1));
  for (auto& [key, member] : value.items()) {
    if (member.is_string() && member.get_ref<std::string&>().size() > each) member = CutText(member.get_ref<std::string&>(), each);
  }
  line = dump();
  return line.size() <= 2 * limit ? line : "{}";
}

std::string CutText(std::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  const size_t end = CharacterStart(text, limit);
  return std::string(text.substr(0, end)) + "\n[" + std::to_string(text.size() - end) + " more bytes]";
}

}  // namespace beige::sessions
