#include "gateway/llm/health_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gateway/llm/dialect.h"
#include "gateway/llm/retry_after.h"

namespace beige::llm {
namespace {
constexpr ErrorClass kKinds[] = {ErrorClass::kRateLimit, ErrorClass::kOverloaded, ErrorClass::kAuth, ErrorClass::kNetwork, ErrorClass::kStalled, ErrorClass::kProtocol};

ErrorClass KindOf(const std::string& word) {
  const auto found = std::find_if(std::begin(kKinds), std::end(kKinds), [&](ErrorClass kind) { return ErrorClassName(kind) == word; });
  return found == std::end(kKinds) ? ErrorClass::kOverloaded : *found;
}
}  // namespace

std::string EncodeHealth(const Cooldowns& cooldowns, const Clock& clock) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const auto& [name, entry] : cooldowns.all()) {
    if (entry.until <= clock.Now()) continue;
    const SystemTime until = clock.WallNow() + std::chrono::duration_cast<SystemTime::duration>(entry.until - clock.Now());
    models.push_back({{"provider", name.provider}, {"model", name.model}, {"until", FormatTime(until)}, {"why", ErrorClassName(entry.why)},
                      {"message", entry.message}, {"failures", entry.failures}});
  }
  return nlohmann::ordered_json{{"v", 1}, {"models", std::move(models)}}.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Cooldowns DecodeHealth(std::string_view text, const Clock& clock) {
  Cooldowns out;
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  const nlohmann::json& models = At(document, "models");
  if (!models.is_array()) return out;
  for (const nlohmann::json& model : models) {
    const ModelName name{Str(model, "provider"), Str(model, "model")};
    const auto until = ParseTime(Str(model, "until"));
    if (name.provider.empty() || name.model.empty() || !until || *until <= clock.WallNow()) continue;
    Cooldowns::Entry entry;
    entry.until = clock.Now() + std::chrono::duration_cast<SteadyTime::duration>(std::min<SystemTime::duration>(*until - clock.WallNow(), kLongestWait));
    entry.why = KindOf(Str(model, "why"));
    if (entry.why == ErrorClass::kAuth) continue;  // a restart is what people do after they have put another key in
    entry.message = Str(model, "message");
    entry.failures = static_cast<int>(std::clamp<int64_t>(Int(model, "failures"), 0, 100));
    out.Restore(name, std::move(entry));
  }
  return out;
}

}  // namespace beige::llm
