#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/agent_names.h"
#include "api/json_object.h"
#include "api/load.h"
#include "api/quantity.h"

namespace beige {
namespace {

using Json = nlohmann::ordered_json;  // fields in the order of the documents that people write

// kFull names every field that has a value, defaults included; kCanonical leaves defaults out, so that a field which a later version adds
// does not make an unchanged spec look changed.
enum class Form { kFull, kCanonical };

std::string Dump(const Json& value, int indent = -1) { return value.dump(indent, ' ', false, Json::error_handler_t::replace); }

class SpecEncoder {
 public:
  explicit SpecEncoder(Form form) : full_(form == Form::kFull) {}

  Json Spec(const AgentSpec& spec) const {
    static const AgentSpec defaults;
    Json out = Json::object();
    if (!spec.description.empty()) out["description"] = spec.description;
    if (full_ || !spec.tools.empty()) out["tools"] = Names(spec.tools);
    if (full_ || !spec.skills.empty()) out["skills"] = Names(spec.skills);
    if (full_ || spec.core_tools != defaults.core_tools) out["coreTools"] = Names(spec.core_tools);
    if (full_ || !spec.model_choices.empty()) out["model"] = {{"choices", Choices(spec.model_choices)}};
    if (!spec.instructions.empty()) out["instructions"] = spec.instructions;
    if (full_ || spec.operating_mode != defaults.operating_mode) out["operatingMode"] = WordOf(kOperatingModes, spec.operating_mode);
    if (Json sandbox = Sandbox(spec.sandbox); !sandbox.empty()) out["sandbox"] = std::move(sandbox);
    if (full_ || spec.egress_mode != defaults.egress_mode) out["egress"] = {{"mode", WordOf(kEgressModes, spec.egress_mode)}};
    if (full_ || spec.workspace_retention != defaults.workspace_retention) {
      out["workspace"] = {{"retentionPolicy", WordOf(kRetentionPolicies, spec.workspace_retention)}};
    }
    return out;
  }

 private:
  static Json Names(const std::vector<NamedRef>& refs) {
    Json out = Json::array();
    for (const NamedRef& ref : refs) out.push_back({{"name", ref.name}});
    return out;
  }

  Json Choices(const std::vector<ModelChoice>& choices) const {
    Json out = Json::array();
    for (const ModelChoice& choice : choices) {
      Json& item = out.emplace_back(Json{{"name", choice.name}});
      if (full_ || choice.thinking_level != "off") item["thinkingLevel"] = choice.thinking_level;
    }
    return out;
  }

  Json Sandbox(const SandboxFields& sandbox) const {
    static const SandboxFields defaults;
    Json out = Json::object();
    if (!sandbox.image.empty()) out["image"] = sandbox.image;
    if (full_ || sandbox.image_pull_policy != defaults.image_pull_policy) out["imagePullPolicy"] = WordOf(kPullPolicies, sandbox.image_pull_policy);
    if (sandbox.run_as_user) out["securityContext"] = {{"runAsUser", *sandbox.run_as_user}};
    Json limits = Json::object();
    if (sandbox.cpu_millis) limits["cpu"] = FormatCpu(*sandbox.cpu_millis);
    if (sandbox.memory_bytes) limits["memory"] = FormatBytes(*sandbox.memory_bytes);
    if (!limits.empty()) out["resources"] = {{"limits", std::move(limits)}};
    if (full_ || sandbox.pids_limit != defaults.pids_limit) out["pidsLimit"] = sandbox.pids_limit;
    if (!sandbox.env.empty()) {
      Json& list = out["env"] = Json::array();
      for (const EnvVar& variable : sandbox.env) list.push_back({{"name", variable.name}, {"value", variable.value}});
    }
    if (!sandbox.volumes.empty()) {
      Json& list = out["volumes"] = Json::array();
      for (const Volume& volume : sandbox.volumes) {
        list.push_back({{"name", volume.name}, {"mountPath", volume.mount_path}, {"readOnly", volume.read_only}, {"hostPath", {{"path", volume.host_path}}}});
      }
    }
    return out;
  }

  bool full_;
};

Json StatusJson(const AgentStatus& status) {
  Json out = {{"observedGeneration", status.observed_generation}, {"grantGeneration", status.grant_generation}};
  if (status.sandbox) {
    const SandboxStatus& s = *status.sandbox;
    out["sandbox"] = {{"runtime", s.runtime}, {"id", s.id}, {"name", s.name}, {"image", s.image}, {"imageDigest", s.image_digest},
                      {"template", s.template_version}, {"startTime", s.start_time}, {"restarts", s.restarts}};
  }
  Json& conditions = out["conditions"] = Json::array();
  for (const Condition& c : status.conditions) {
    conditions.push_back({{"type", c.type}, {"status", WordOf(kTruths, c.status)}, {"reason", c.reason}, {"message", c.message},
                          {"lastTransitionTime", c.last_transition_time}, {"observedGeneration", c.observed_generation}});
  }
  return out;
}

template <typename E, size_t N>
void ReadEnum(JsonObject& object, const char* key, const EnumWord<E> (&words)[N], E& out) {
  if (!object.Has(key)) return;
  std::string word;
  object.Read(key, word);
  if (const auto value = ValueOf(words, word)) {
    out = *value;
  } else {
    object.Fail(key, "no such value: \"" + word + "\"");
  }
}

std::vector<NamedRef> ReadNames(JsonObject& object, const char* key) {
  std::vector<NamedRef> out;
  for (JsonObject& item : object.Objects(key)) item.Need("name", out.emplace_back().name);
  return out;
}

void ReadChoices(JsonObject& object, std::vector<ModelChoice>& out) {
  for (JsonObject& item : object.Objects("choices")) {
    ModelChoice& choice = out.emplace_back();
    item.Need("name", choice.name);
    item.Read("thinkingLevel", choice.thinking_level);
    const auto& levels = kThinkingLevels;
    if (std::find(std::begin(levels), std::end(levels), choice.thinking_level) == std::end(levels)) {
      item.Fail("thinkingLevel", "no such value: \"" + choice.thinking_level + "\"");
    }
  }
}

void ReadSandbox(JsonObject& object, SandboxFields& out) {
  object.Read("image", out.image);
  ReadEnum(object, "imagePullPolicy", kPullPolicies, out.image_pull_policy);
  if (auto context = object.Object("securityContext"); context && context->Has("runAsUser")) context->Read("runAsUser", out.run_as_user.emplace());
  if (auto resources = object.Object("resources")) {
    if (auto limits = resources->Object("limits")) {
      std::string text;
      if (limits->Has("cpu")) {
        limits->Read("cpu", text);
        if (auto value = ParseCpu(text)) out.cpu_millis = *value;
        else limits->Fail("cpu", "want " + value.error().message);
      }
      if (limits->Has("memory")) {
        limits->Read("memory", text);
        if (auto value = ParseMemory(text)) out.memory_bytes = *value;
        else limits->Fail("memory", "want " + value.error().message);
      }
    }
  }
  object.Read("pidsLimit", out.pids_limit);
  for (JsonObject& item : object.Objects("env")) {
    EnvVar& variable = out.env.emplace_back();
    item.Need("name", variable.name);
    item.Read("value", variable.value);
  }
  for (JsonObject& item : object.Objects("volumes")) {
    Volume& volume = out.volumes.emplace_back();
    item.Need("name", volume.name);
    item.Need("mountPath", volume.mount_path);
    item.Read("readOnly", volume.read_only);
    if (auto host = item.Object("hostPath")) host->Need("path", volume.host_path);
  }
}

void ReadSpec(JsonObject& object, AgentSpec& out) {
  object.Read("description", out.description);
  out.tools = ReadNames(object, "tools");
  out.skills = ReadNames(object, "skills");
  if (object.Has("coreTools")) out.core_tools = ReadNames(object, "coreTools");
  if (auto model = object.Object("model")) ReadChoices(*model, out.model_choices);
  object.Read("instructions", out.instructions);
  ReadEnum(object, "operatingMode", kOperatingModes, out.operating_mode);
  if (auto sandbox = object.Object("sandbox")) ReadSandbox(*sandbox, out.sandbox);
  if (auto egress = object.Object("egress")) ReadEnum(*egress, "mode", kEgressModes, out.egress_mode);
  if (auto workspace = object.Object("workspace")) ReadEnum(*workspace, "retentionPolicy", kRetentionPolicies, out.workspace_retention);
}

void ReadStatus(JsonObject& object, AgentStatus& out) {
  object.Read("observedGeneration", out.observed_generation);
  object.Read("grantGeneration", out.grant_generation);
  if (auto sandbox = object.Object("sandbox")) {
    SandboxStatus& s = out.sandbox.emplace();
    sandbox->Read("runtime", s.runtime);
    sandbox->Read("id", s.id);
    sandbox->Read("name", s.name);
    sandbox->Read("image", s.image);
    sandbox->Read("imageDigest", s.image_digest);
    sandbox->Read("template", s.template_version);
    sandbox->Read("startTime", s.start_time);
    sandbox->Read("restarts", s.restarts);
  }
  for (JsonObject& item : object.Objects("conditions")) {
    Condition& c = out.conditions.emplace_back();
    item.Need("type", c.type);
    ReadEnum(item, "status", kTruths, c.status);
    item.Read("reason", c.reason);
    item.Read("message", c.message);
    item.Read("lastTransitionTime", c.last_transition_time);
    item.Read("observedGeneration", c.observed_generation);
  }
}

}  // namespace

std::vector<NamedRef> AllCoreTools() {
  std::vector<NamedRef> out;
  for (const std::string_view name : kCoreTools) out.push_back({std::string(name)});
  return out;
}

std::string EncodeSpec(const AgentSpec& spec) { return Dump(SpecEncoder(Form::kCanonical).Spec(spec)); }

std::string EncodeStatus(const AgentStatus& status) { return Dump(StatusJson(status)); }

std::string EncodeAgent(const Agent& agent, int indent) {
  Json metadata = {{"name", agent.metadata.name}, {"namespace", agent.metadata.namespace_}};
  if (!agent.metadata.labels.empty()) metadata["labels"] = agent.metadata.labels;
  if (!agent.metadata.uid.empty()) metadata["uid"] = agent.metadata.uid;
  if (agent.metadata.generation != 0) metadata["generation"] = agent.metadata.generation;
  if (!agent.metadata.creation_time.empty()) metadata["creationTimestamp"] = agent.metadata.creation_time;
  Json out = {{"apiVersion", kApiVersion}, {"kind", "Agent"}};
  out["metadata"] = std::move(metadata);
  out["spec"] = SpecEncoder(Form::kFull).Spec(agent.spec);
  out["status"] = StatusJson(agent.status);
  if (agent.local) out["local"] = {{"socket", agent.local->socket}, {"workspace", agent.local->workspace}, {"source", agent.local->source}};
  return Dump(out, indent);
}

Result<Agent> DecodeAgent(std::string_view text) {
  const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  if (value.is_discarded()) return Fail(Code::kInvalid, "agent: not JSON");
  std::string error;
  JsonObject object(value, "", error);
  Agent agent;
  std::string api_version = kApiVersion;
  std::string kind = "Agent";
  object.Read("apiVersion", api_version);
  object.Read("kind", kind);
  if (api_version != kApiVersion) object.Fail("apiVersion", "want " + std::string(kApiVersion) + ", got \"" + api_version + "\"");
  if (kind != "Agent") object.Fail("kind", "want Agent, got \"" + kind + "\"");
  if (auto metadata = object.Object("metadata")) {
    metadata->Need("name", agent.metadata.name);
    metadata->Read("namespace", agent.metadata.namespace_);
    metadata->Read("labels", agent.metadata.labels);
    metadata->Read("uid", agent.metadata.uid);
    metadata->Read("generation", agent.metadata.generation);
    metadata->Read("creationTimestamp", agent.metadata.creation_time);
  } else {
    object.Fail("metadata", "is missing");
  }
  if (auto spec = object.Object("spec")) ReadSpec(*spec, agent.spec);
  if (auto status = object.Object("status")) ReadStatus(*status, agent.status);
  if (auto local = object.Object("local")) {
    AgentLocal& l = agent.local.emplace();
    local->Read("socket", l.socket);
    local->Read("workspace", l.workspace);
    local->Read("source", l.source);
  }
  if (!error.empty()) return Fail(Code::kInvalid, "agent: " + error);
  return agent;
}

}  // namespace beige
