#ifndef BEIGE_GATEWAY_HTTP_SESSION_JSON_H_
#define BEIGE_GATEWAY_HTTP_SESSION_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "gateway/sessions/sessions.h"

namespace beige {

std::string SummaryJson(const sessions::Summary& summary);  // as docs/sessions.md has it
std::string SummaryListJson(const std::vector<sessions::Summary>& summaries);  // {"items":[...]}
nlohmann::ordered_json UsageJson(const llm::Usage& usage);
std::string DumpJson(const nlohmann::ordered_json& value);  // never throws

}  // namespace beige

#endif
