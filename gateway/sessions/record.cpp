#include "gateway/sessions/record.h"

#include <nlohmann/json.hpp>

#include "api/llm_reader.h"
#include "base/random.h"
#include "gateway/sessions/record_json.h"

namespace beige::sessions {
namespace {
using nlohmann::json;
using nlohmann::ordered_json;

void AddOrigin(ordered_json& into, std::optional<LlmApi> origin) {
  if (origin) into["origin"] = LlmApiName(*origin);
}

std::optional<LlmApi> OriginOf(const json& object) {
  return ParseLlmApi(object.value("origin", ""));
}

ordered_json ImageJson(const llm::Image& image) { return {{"mediaType", image.media_type}, {"data", Base64Encode(image.bytes)}}; }

ordered_json ImagesJson(const std::vector<llm::Image>& images) {
  ordered_json out = ordered_json::array();
  for (const llm::Image& image : images) out.push_back(ImageJson(image));
  return out;
}

std::vector<llm::Image> ImagesOf(const json& object) {
  std::vector<llm::Image> images;
  if (const auto found = object.find("images"); found != object.end() && found->is_array()) {
    for (const json& image : *found) {
      if (auto bytes = Base64Decode(image.value("data", ""))) images.push_back({image.value("mediaType", ""), std::move(*bytes)});
    }
  }
  return images;
}

ordered_json UsageJson(const llm::Usage& usage) {
  return {{"input", usage.input}, {"output", usage.output}, {"cacheRead", usage.cache_read}, {"cacheWrite", usage.cache_write}, {"thinking", usage.thinking}, {"costUsd", usage.cost_usd}};
}

llm::Usage UsageOf(const json& object, const char* key) {
  llm::Usage usage;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) return usage;
  usage.input = found->value("input", int64_t{0});
  usage.output = found->value("output", int64_t{0});
  usage.cache_read = found->value("cacheRead", int64_t{0});
  usage.cache_write = found->value("cacheWrite", int64_t{0});
  usage.thinking = found->value("thinking", int64_t{0});
  usage.cost_usd = found->value("costUsd", 0.0);
  return usage;
}

ordered_json PartJson(const llm::Part& part) {
  if (const auto* text = std::get_if<llm::Text>(&part)) return {{"type", "text"}, {"text", text->text}};
  if (const auto* thought = std::get_if<llm::Thinking>(&part)) {
    ordered_json out = {{"type", "thinking"}, {"text", thought->text}};
    if (!thought->signature.empty()) out["signature"] = thought->signature;
    if (thought->redacted) out["redacted"] = true;
    AddOrigin(out, thought->origin);
    return out;
  }
  if (const auto* call = std::get_if<llm::ToolCall>(&part)) {
    ordered_json out = {{"type", "call"}, {"id", call->id}, {"name", call->name}, {"arguments", call->arguments}};
    if (!call->signature.empty()) out["signature"] = call->signature;
    AddOrigin(out, call->origin);
    return out;
  }
  return {{"type", "none"}};  // an assistant's message holds nothing else
}

void AddPart(llm::Message& message, const json& part) {
  const std::string type = part.value("type", "");
  if (type == "text") message.parts.emplace_back(llm::Text{part.value("text", "")});
  if (type == "thinking") {
    message.parts.emplace_back(llm::Thinking{part.value("text", ""), part.value("signature", ""), part.value("redacted", false), OriginOf(part)});
  }
  if (type == "call") {
    message.parts.emplace_back(llm::ToolCall{part.value("id", ""), part.value("name", ""), part.value("arguments", ""), part.value("signature", ""), OriginOf(part)});
  }
}

struct Encoder {
  ordered_json operator()(const Begun& r) const { return {{"type", "session"}, {"id", r.id}, {"namespace", r.namespace_}, {"agent", r.agent}, {"agentUid", r.agent_uid}}; }
  ordered_json operator()(const Said& r) const {
    ordered_json out = {{"type", "prompt"}, {"prompt", r.prompt}, {"actor", r.actor}, {"text", r.text}};
    if (!r.images.empty()) out["images"] = ImagesJson(r.images);
    if (r.steer) out["steer"] = true;
    if (r.detach) out["detach"] = true;
    return out;
  }
  ordered_json operator()(const TurnBegun& r) const { return {{"type", "turn"}, {"prompt", r.prompt}, {"turn", r.turn}}; }
  ordered_json operator()(const Steered& r) const { return {{"type", "steer"}, {"prompt", r.prompt}}; }
  ordered_json operator()(const Dropped& r) const { return {{"type", "drop"}, {"prompt", r.prompt}}; }
  ordered_json operator()(const Answered& r) const {
    ordered_json parts = ordered_json::array();
    for (const llm::Part& part : r.message.parts) parts.push_back(PartJson(part));
    ordered_json out = {{"type", "answer"}, {"model", r.model}, {"parts", std::move(parts)}, {"stop", r.stop}, {"usage", UsageJson(r.usage)}};
    if (!r.notes.empty()) out["notes"] = r.notes;
    if (!r.unfinished.empty()) out["unfinished"] = r.unfinished;
    return out;
  }
  ordered_json operator()(const PicturesRefused&) const { return {{"type", "picturesRefused"}}; }
  ordered_json operator()(const Partial& r) const { return {{"type", "partial"}, {"model", r.model}, {"part", r.part}, {"text", r.text}}; }
  ordered_json operator()(const Resulted& r) const {
    ordered_json out = {{"type", "result"}, {"id", r.result.call_id}, {"name", r.result.name}, {"text", r.result.text}};
    if (r.result.is_error) out["error"] = true;
    if (!r.result.images.empty()) out["images"] = ImagesJson(r.result.images);
    if (!r.diff.empty()) out["diff"] = r.diff;
    return out;
  }
  ordered_json operator()(const TurnEnded& r) const {
    ordered_json out = {{"type", "end"}, {"prompt", r.prompt}, {"outcome", r.outcome}, {"code", r.code}};
    if (!r.message.empty()) out["message"] = r.message;
    out["title"] = r.title;
    out["turns"] = r.turns;
    out["total"] = UsageJson(r.total);
    out["model"] = r.model;
    out["thinkingLevel"] = r.thinking;
    return out;
  }
  ordered_json operator()(const ModelSet& r) const { return {{"type", "model"}, {"model", r.model}, {"thinkingLevel", r.thinking}}; }
  ordered_json operator()(const Compacted& r) const { return {{"type", "compaction"}, {"summary", r.summary}, {"from", r.from}, {"usage", UsageJson(r.usage)}}; }
};

Result<Record> RecordOf(const json& o) {
  const std::string type = o.value("type", "");
  if (type == "session") return Begun{o.value("id", ""), o.value("namespace", ""), o.value("agent", ""), o.value("agentUid", "")};
  if (type == "prompt") return Said{o.value("prompt", ""), o.value("actor", ""), o.value("text", ""), ImagesOf(o), o.value("steer", false), o.value("detach", false)};
  if (type == "turn") return TurnBegun{o.value("prompt", ""), o.value("turn", int64_t{0})};
  if (type == "steer") return Steered{o.value("prompt", "")};
  if (type == "drop") return Dropped{o.value("prompt", "")};
  if (type == "answer") {
    Answered out;
    out.model = o.value("model", "");
    for (const json& part : o.at("parts")) AddPart(out.message, part);
    if (o.contains("notes")) out.notes = o.at("notes").get<std::vector<std::string>>();
    out.stop = o.value("stop", "");
    out.unfinished = o.value("unfinished", "");
    out.usage = UsageOf(o, "usage");
    return out;
  }
  if (type == "picturesRefused") return PicturesRefused{};
  if (type == "partial") return Partial{o.value("model", ""), o.value("part", int64_t{0}), o.value("text", "")};
  if (type == "result") {
    return Resulted{{o.value("id", ""), o.value("name", ""), o.value("text", ""), ImagesOf(o), o.value("error", false)}, o.value("diff", "")};
  }
  if (type == "end") {
    return TurnEnded{o.value("prompt", ""), o.value("outcome", ""), o.value("code", ""), o.value("message", ""), o.value("title", ""),
                     o.value("turns", int64_t{0}), UsageOf(o, "total"), o.value("model", ""), o.value("thinkingLevel", "")};
  }
  if (type == "model") return ModelSet{o.value("model", ""), o.value("thinkingLevel", "")};
  if (type == "compaction") return Compacted{o.value("summary", ""), o.value("from", int64_t{0}), UsageOf(o, "usage")};
  return Fail(Code::kNotFound, "no record of type \"" + type.substr(0, 40) + "\"");
}
}  // namespace

ordered_json RecordJson(const Record& record) { return std::visit(Encoder{}, record); }

std::string EncodeLine(const Line& line) {
  ordered_json out = {{"v", 1}, {"n", line.n}, {"ts", line.time}};
  out.update(RecordJson(line.record));
  return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Result<Line> DecodeLine(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return Fail(Code::kInvalid, "not a JSON object");
  try {
    Line line;
    line.n = object.value("n", int64_t{0});
    line.time = object.value("ts", "");
    BEIGE_ASSIGN(line.record, RecordOf(object));
    return line;
  } catch (const json::exception& e) {  // a field of another type
    return Fail(Code::kInvalid, e.what());
  }
}

}  // namespace beige::sessions
