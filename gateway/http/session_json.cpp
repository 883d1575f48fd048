#include "gateway/http/session_json.h"

#include <nlohmann/json.hpp>

namespace beige {
namespace {
using nlohmann::ordered_json;

ordered_json Encode(const sessions::Summary& summary) {
  return {{"id", summary.id},
          {"title", summary.title},
          {"createdAt", summary.created},
          {"updatedAt", summary.updated},
          {"model", summary.model},
          {"thinkingLevel", summary.thinking},
          {"state", summary.state},
          {"queued", summary.queued},
          {"turns", summary.turns},
          {"usage", UsageJson(summary.usage)}};
}
}  // namespace

ordered_json UsageJson(const llm::Usage& usage) {
  return {{"input", usage.input}, {"output", usage.output}, {"cacheRead", usage.cache_read}, {"cacheWrite", usage.cache_write}, {"costUsd", usage.cost_usd}};
}

std::string DumpJson(const ordered_json& value) { return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace); }

std::string SummaryJson(const sessions::Summary& summary) { return DumpJson(Encode(summary)); }

std::string SummaryListJson(const std::vector<sessions::Summary>& summaries) {
  ordered_json items = ordered_json::array();
  for (const sessions::Summary& summary : summaries) items.push_back(Encode(summary));
  return DumpJson(ordered_json{{"items", std::move(items)}});
}

}  // namespace beige
