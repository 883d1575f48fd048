#include "gateway/http/models_json.h"

#include <nlohmann/json.hpp>

#include "api/llm_reader.h"

namespace beige {

std::string ModelListJson(const std::vector<llm::ModelState>& models) {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const llm::ModelState& model : models) {
    const LlmModelConfig& config = model.config;
    nlohmann::ordered_json health = {{"state", model.cooling ? "cooling" : "ready"}};
    if (model.cooling) {
      health["why"] = llm::ErrorClassName(model.why);
      health["message"] = model.message;
      health["retryAfterMs"] = model.cooling->count();
    }
    nlohmann::ordered_json input = nlohmann::ordered_json::array({"text"});
    if (config.images) input.push_back("image");
    items.push_back({{"name", model.name.ToString()},
                     {"api", LlmApiName(model.api)},
                     {"contextWindow", config.context_window},
                     {"maxTokens", config.max_tokens},
                     {"input", std::move(input)},
                     {"cost", {{"input", config.cost.input}, {"output", config.cost.output}, {"cacheRead", config.cost.cache_read}, {"cacheWrite", config.cost.cache_write}}},
                     {"health", std::move(health)},
                     {"running", model.running},
                     {"waiting", model.waiting}});
  }
  return nlohmann::ordered_json{{"items", std::move(items)}}.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace beige
