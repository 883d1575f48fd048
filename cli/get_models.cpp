#include "cli/get_models.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "cli/gateway_api.h"
#include "cli/report.h"
#include "cli/table.h"

namespace beige::cli {
namespace {
using nlohmann::ordered_json;

std::string StateOf(const ordered_json& health) {
  if (health.value("state", "") != "cooling") return "ready";
  const auto left = std::chrono::ceil<std::chrono::seconds>(std::chrono::milliseconds(health.value("retryAfterMs", int64_t{0})));
  return "cooling " + FormatDuration(left) + " (" + health.value("why", "") + ")";
}

std::string Tokens(int64_t count) { return count == 0 ? "-" : std::to_string(count); }
}  // namespace

int GetModels(const Globals& globals, const GetOptions& options) {
  const auto body = GetFromGateway(globals.paths(), "/v1/models");
  if (!body) return Report("get", body.error());
  ordered_json document = ordered_json::parse(*body, nullptr, false);
  if (!document.is_object() || !document["items"].is_array()) return Report("get", kFailed, "the gateway's answer is not a list of models; is it of another version? see 'beige status'");
  ordered_json items = ordered_json::array();
  int status = kDone;
  for (const std::string& name : options.names) {
    const auto found = std::find_if(document["items"].begin(), document["items"].end(), [&](const ordered_json& item) { return item.value("name", "") == name; });
    if (found == document["items"].end()) {
      status = Report("get", kNotFound, "model " + name + ": not in " + globals.paths().GatewayYaml() + "; 'beige get models' lists what is");
    } else {
      items.push_back(*found);
    }
  }
  if (options.names.empty()) items = document["items"];
  if (globals.structured()) {
    const ordered_json out = options.names.size() == 1 && items.size() == 1 ? items[0] : ordered_json{{"items", items}};
    PrintStructured(globals, out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
    return status;
  }
  const bool wide = globals.output == Output::kWide;
  Table table(wide ? std::vector<std::string>{"NAME", "API", "STATE", "CONTEXT", "RUNNING", "WAITING", "MESSAGE"} : std::vector<std::string>{"NAME", "API", "STATE", "CONTEXT"});
  for (const ordered_json& item : items) {
    const std::string name = item.value("name", "");
    if (globals.output == Output::kName) {
      PrintLine("model/" + name);
      continue;
    }
    std::vector<std::string> row = {name, item.value("api", ""), StateOf(item["health"]), Tokens(item.value("contextWindow", int64_t{0}))};
    if (wide) {
      for (const char* key : {"running", "waiting"}) row.push_back(std::to_string(item.value(key, int64_t{0})));
      row.push_back(item["health"].value("message", ""));
    }
    table.Add(std::move(row));
  }
  if (!table.empty()) Print(table.Render());
  if (items.empty() && options.names.empty()) PrintError("get", "no models; name providers under 'llm:' in " + globals.paths().GatewayYaml());
  return status;
}

}  // namespace beige::cli
