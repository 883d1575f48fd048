#include "runtime/engine/labels.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace beige::runtime::engine {

namespace {

constexpr char kNamespaceLabel[] = "beige.dev/namespace";
constexpr char kAgentLabel[] = "beige.dev/agent";
constexpr char kHashLabel[] = "beige.dev/spec-hash";
constexpr char kTemplateLabel[] = "beige.dev/template";
constexpr char kInstanceLabel[] = "beige.dev/instance";

std::string Find(const Labels& labels, const char* name) {
  const auto it = labels.find(name);
  return it == labels.end() ? "" : it->second;
}

}  // namespace

Labels KeyLabels(const SandboxKey& key) {
  return {{kHomeLabel, key.home}, {kNamespaceLabel, key.namespace_}, {kAgentLabel, key.agent}, {kUidLabel, key.uid}};
}

Labels SandboxLabels(const SandboxSpec& spec) {
  Labels labels = KeyLabels(spec.key);
  labels[kHashLabel] = spec.spec_hash;
  labels[kTemplateLabel] = std::to_string(spec.template_version);
  labels[kInstanceLabel] = spec.instance;
  return labels;
}

SandboxKey KeyOf(const Labels& labels) {
  SandboxKey key{Find(labels, kHomeLabel), Find(labels, kNamespaceLabel), Find(labels, kAgentLabel), Find(labels, kUidLabel)};
  if (key.home.empty() || key.namespace_.empty() || key.agent.empty() || key.uid.empty()) return {};
  return key;
}

void ReadLabels(const Labels& labels, Observed& into) {
  into.key = KeyOf(labels);
  into.instance = Find(labels, kInstanceLabel);
  into.spec_hash = Find(labels, kHashLabel);
  const std::string number = Find(labels, kTemplateLabel);
  std::from_chars(number.data(), number.data() + number.size(), into.template_version);
}

std::string LabelFilter(const Labels& labels) {
  nlohmann::json wanted = nlohmann::json::array();
  for (const auto& [name, value] : labels) wanted.push_back(name + "=" + value);
  return nlohmann::json{{"label", wanted}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace beige::runtime::engine
