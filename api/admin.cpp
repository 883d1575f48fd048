#include "api/admin.h"

#include <nlohmann/json.hpp>

#include "api/json_object.h"

namespace beige::admin {
namespace {

using nlohmann::json;

std::string Dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

json ToJson(const Grant& grant) {
  json choices = json::array();
  for (const ModelChoice& choice : grant.model_choices) choices.push_back({{"name", choice.name}, {"thinkingLevel", choice.thinking_level}});
  return {{"agent", {{"namespace", grant.agent.namespace_}, {"name", grant.agent.name}, {"uid", grant.agent.uid}}},
          {"generation", grant.generation},
          {"labels", grant.labels},
          {"description", grant.description},
          {"tools", grant.tools},
          {"skills", grant.skills},
          {"suspended", grant.suspended},
          {"sandboxUid", grant.sandbox_uid},
          {"coreTools", grant.core_tools},
          {"modelChoices", std::move(choices)},
          {"instructions", grant.instructions}};
}

Grant GrantFrom(JsonObject& object) {
  Grant grant;
  if (auto agent = object.Object("agent")) {
    agent->Need("namespace", grant.agent.namespace_);
    agent->Need("name", grant.agent.name);
    agent->Need("uid", grant.agent.uid);
  } else {
    object.Fail("agent", "is missing");
  }
  object.Need("generation", grant.generation);
  object.Read("labels", grant.labels);
  object.Read("description", grant.description);
  // Not optional: a grant whose list got lost must not read as one that says "no tools".
  object.Need("tools", grant.tools);
  object.Need("skills", grant.skills);
  object.Need("suspended", grant.suspended);
  object.Need("sandboxUid", grant.sandbox_uid);
  object.Read("coreTools", grant.core_tools);
  for (JsonObject& item : object.Objects("modelChoices")) {
    ModelChoice& choice = grant.model_choices.emplace_back();
    item.Need("name", choice.name);
    item.Need("thinkingLevel", choice.thinking_level);
  }
  object.Read("instructions", grant.instructions);
  return grant;
}

json ToJson(const Hello& m) { return {{"type", "hello"}, {"min", m.min}, {"max", m.max}, {"features", m.features}, {"version", m.version}}; }
json ToJson(const Sync& m) {
  json grants = json::array();
  for (const Grant& grant : m.grants) grants.push_back(ToJson(grant));
  return {{"type", "sync"}, {"grants", std::move(grants)}};
}
json ToJson(const Put& m) { return {{"type", "put"}, {"grant", ToJson(m.grant)}}; }
json ToJson(const Remove& m) { return {{"type", "remove"}, {"uid", m.uid}}; }
json ToJson(const Announce& m) { return {{"type", "announce"}, {"uid", m.uid}, {"instance", m.instance}}; }
json ToJson(const Probe& m) { return {{"type", "probe"}, {"uid", m.uid}}; }
json ToJson(const InForce& m) {
  return {{"type", "inForce"},
          {"uid", m.uid},
          {"generation", m.generation},
          {"tools", m.tools},
          {"unknownTools", m.unknown_tools},
          {"unknownSkills", m.unknown_skills},
          {"unavailableTools", m.unavailable_tools},
          {"unavailableSkills", m.unavailable_skills},
          {"unknownModels", m.unknown_models}};
}
json ToJson(const Rejected& m) { return {{"type", "rejected"}, {"uid", m.uid}, {"generation", m.generation}, {"message", m.message}}; }
json ToJson(const Removed& m) { return {{"type", "removed"}, {"uid", m.uid}}; }
json ToJson(const Synced& m) { return {{"type", "synced"}, {"count", m.count}}; }
json ToJson(const Announced& m) { return {{"type", "announced"}, {"uid", m.uid}, {"instance", m.instance}, {"message", m.message}}; }
json ToJson(const Registered& m) { return {{"type", "registered"}, {"uid", m.uid}, {"instance", m.instance}, {"version", m.version}}; }
json ToJson(const Lost& m) { return {{"type", "lost"}, {"uid", m.uid}}; }
json ToJson(const RoundTrip& m) {
  return {{"type", "roundTrip"}, {"uid", m.uid}, {"ok", m.ok}, {"micros", m.micros}, {"message", m.message}};
}

Hello HelloFrom(JsonObject& object) {
  Hello m;
  object.Need("min", m.min);
  object.Need("max", m.max);
  object.Read("features", m.features);
  object.Read("version", m.version);
  return m;
}

// A message of which only the agent's uid counts.
template <typename M>
M UidFrom(JsonObject& object) {
  M m;
  object.Need("uid", m.uid);
  return m;
}

std::optional<ToGateway> ToGatewayFrom(const std::string& type, JsonObject& object) {
  if (type == "hello") return HelloFrom(object);
  if (type == "sync") {
    Sync m;
    if (!object.Has("grants")) object.Fail("grants", "is missing");
    for (JsonObject& grant : object.Objects("grants")) m.grants.push_back(GrantFrom(grant));
    return m;
  }
  if (type == "put") {
    Put m;
    if (auto grant = object.Object("grant")) {
      m.grant = GrantFrom(*grant);
    } else {
      object.Fail("grant", "is missing");
    }
    return m;
  }
  if (type == "remove") return UidFrom<Remove>(object);
  if (type == "announce") {
    auto m = UidFrom<Announce>(object);
    object.Need("instance", m.instance);
    return m;
  }
  if (type == "probe") return UidFrom<Probe>(object);
  return std::nullopt;
}

std::optional<ToOperator> ToOperatorFrom(const std::string& type, JsonObject& object) {
  if (type == "hello") return HelloFrom(object);
  if (type == "inForce") {
    auto m = UidFrom<InForce>(object);
    object.Need("generation", m.generation);
    object.Need("tools", m.tools);
    object.Read("unknownTools", m.unknown_tools);
    object.Read("unknownSkills", m.unknown_skills);
    object.Read("unavailableTools", m.unavailable_tools);
    object.Read("unavailableSkills", m.unavailable_skills);
    object.Read("unknownModels", m.unknown_models);
    return m;
  }
  if (type == "rejected") {
    auto m = UidFrom<Rejected>(object);
    object.Need("generation", m.generation);
    object.Read("message", m.message);
    return m;
  }
  if (type == "removed") return UidFrom<Removed>(object);
  if (type == "synced") {
    Synced m;
    object.Need("count", m.count);
    return m;
  }
  if (type == "announced") {
    auto m = UidFrom<Announced>(object);
    object.Need("instance", m.instance);
    object.Need("message", m.message);
    return m;
  }
  if (type == "registered") {
    auto m = UidFrom<Registered>(object);
    object.Need("instance", m.instance);
    object.Read("version", m.version);
    return m;
  }
  if (type == "lost") return UidFrom<Lost>(object);
  if (type == "roundTrip") {
    auto m = UidFrom<RoundTrip>(object);
    object.Need("ok", m.ok);
    object.Read("micros", m.micros);
    object.Read("message", m.message);
    return m;
  }
  return std::nullopt;
}

template <typename Message, typename F>
Result<Message> Decode(std::string_view line, F&& from) {
  if (line.size() > kMaxLine) return Fail(Code::kInvalid, "admin message of " + std::to_string(line.size()) + " bytes: want at most " + std::to_string(kMaxLine));
  const json value = json::parse(line, nullptr, false);
  if (value.is_discarded()) return Fail(Code::kInvalid, "admin message is not JSON");
  std::string error;
  JsonObject object(value, "", error);
  std::string type;
  object.Need("type", type);
  if (!error.empty()) return Fail(Code::kInvalid, "admin message: " + error);
  std::optional<Message> message = from(type, object);
  if (!message) return Fail(Code::kNotFound, "admin message: no type \"" + type.substr(0, 80) + "\"");
  if (!error.empty()) return Fail(Code::kInvalid, "admin message " + type + ": " + error);
  return std::move(*message);
}

}  // namespace

std::string Encode(const ToGateway& message) {
  return std::visit([](const auto& m) { return Dump(ToJson(m)); }, message);
}

std::string Encode(const ToOperator& message) {
  return std::visit([](const auto& m) { return Dump(ToJson(m)); }, message);
}

Result<ToGateway> DecodeToGateway(std::string_view line) { return Decode<ToGateway>(line, ToGatewayFrom); }

Result<ToOperator> DecodeToOperator(std::string_view line) { return Decode<ToOperator>(line, ToOperatorFrom); }

std::string EncodeGrant(const Grant& grant) { return Dump(ToJson(grant)); }

Result<Grant> DecodeGrant(std::string_view text) {
  const json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) return Fail(Code::kInvalid, "grant is not JSON");
  std::string error;
  JsonObject object(value, "", error);
  Grant grant = GrantFrom(object);
  if (!error.empty()) return Fail(Code::kInvalid, "grant: " + error);
  return grant;
}

}  // namespace beige::admin
