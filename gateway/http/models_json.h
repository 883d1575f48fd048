#ifndef BEIGE_GATEWAY_HTTP_MODELS_JSON_H_
#define BEIGE_GATEWAY_HTTP_MODELS_JSON_H_

#include <string>
#include <vector>

#include "gateway/llm/llm.h"

namespace beige {

// {"items":[{"name","api","contextWindow","maxTokens","input","cost","health":{"state":"ready"|"cooling","why","message","retryAfterMs"},
// "running","waiting"}]}. Never an address or a key.
std::string ModelListJson(const std::vector<llm::ModelState>& models);

}  // namespace beige

#endif
