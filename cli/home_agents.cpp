#include "cli/home_agents.h"

#include <filesystem>

#include "api/agent_names.h"
#include "base/files.h"

namespace beige::cli {
namespace {
constexpr size_t kMaxAgentFile = 4u << 20;

bool IsAgentFile(const std::string& name) {
  return !name.starts_with(".") && (name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json"));
}

std::vector<std::string> Names(const std::string& directory) {
  auto names = ListDir(directory);
  return names ? std::move(*names) : std::vector<std::string>();
}

std::map<AgentKey, Agent> ReadStatuses(const HomePaths& paths) {
  std::map<AgentKey, Agent> statuses;
  for (const auto& ns : Names(paths.StatusDir())) {
    const std::string directory = JoinPath(paths.StatusDir(), ns);
    for (const auto& name : Names(directory)) {
      if (name.starts_with(".") || !name.ends_with(".json")) continue;
      const auto text = ReadRegular(JoinPath(directory, name), kMaxAgentFile);
      if (!text) continue;  // removed since it was listed
      if (auto agent = DecodeAgent(*text)) statuses[agent->key()] = std::move(*agent);
    }
  }
  return statuses;
}

AgentView Combine(const AgentKey& key, const Definition* definition, const Agent* status) {
  AgentView view;
  if (status != nullptr) {
    view.agent = *status;
    view.has_status = true;
  }
  view.agent.metadata.namespace_ = key.namespace_;
  view.agent.metadata.name = key.name;
  if (definition == nullptr) {
    view.observed = status != nullptr;
    return view;
  }
  view.definition = *definition;
  if (definition->agent) {
    view.observed = status != nullptr && EncodeSpec(status->spec) == EncodeSpec(definition->agent->spec) &&
                    status->status.observed_generation == status->metadata.generation;
    view.agent.spec = definition->agent->spec;
    view.agent.metadata.labels = definition->agent->metadata.labels;
  } else {
    // The version in force is the one that the operator shows; it is to say that the new one is invalid.
    const Condition* accepted = FindCondition(view.agent.status.conditions, "Accepted");
    view.observed = accepted != nullptr && accepted->status == Truth::kFalse;
  }
  return view;
}
}  // namespace

std::vector<std::string> AgentFiles(const HomePaths& paths) {
  std::vector<std::string> files;
  for (const auto& name : Names(paths.AgentsDir())) {
    if (IsAgentFile(name)) files.push_back(JoinPath(paths.AgentsDir(), name));
  }
  return files;
}

std::map<AgentKey, Definition> ReadDefinitions(const HomePaths& paths, std::vector<Problem>* orphans) {
  std::map<AgentKey, Definition> definitions;
  for (const auto& file : AgentFiles(paths)) {
    const auto text = ReadRegular(file, kMaxAgentFile);
    if (!text) {
      if (orphans != nullptr) orphans->push_back({file, 0, 0, "", text.error().message, "InvalidSpec"});
      continue;
    }
    LoadedFile loaded = LoadAgents(*text, file);
    if (orphans != nullptr) orphans->insert(orphans->end(), loaded.problems.begin(), loaded.problems.end());
    for (auto& document : loaded.agents) {
      if (!document.key) {
        if (orphans != nullptr) orphans->insert(orphans->end(), document.problems.begin(), document.problems.end());
        continue;
      }
      Definition definition{file, loaded.agents.size(), std::move(document.agent), std::move(document.problems)};
      const auto [it, added] = definitions.emplace(*document.key, std::move(definition));
      if (!added && orphans != nullptr) {
        orphans->push_back({file, 0, 0, "metadata.name",
                            "agent " + document.key->ToString() + " is already defined in " + it->second.file +
                                ", which is the one in force; give this one another name or remove it",
                            "InvalidSpec"});
      }
    }
  }
  return definitions;
}

std::vector<AgentView> ReadAgents(const HomePaths& paths) {
  const auto definitions = ReadDefinitions(paths);
  const auto statuses = ReadStatuses(paths);
  std::map<AgentKey, AgentView> views;
  for (const auto& [key, definition] : definitions) {
    const auto status = statuses.find(key);
    views[key] = Combine(key, &definition, status == statuses.end() ? nullptr : &status->second);
  }
  for (const auto& [key, status] : statuses) {
    if (!views.contains(key)) views[key] = Combine(key, nullptr, &status);
  }
  std::vector<AgentView> list;
  for (auto& [key, view] : views) list.push_back(std::move(view));
  return list;
}

std::optional<AgentView> ReadAgent(const HomePaths& paths, const AgentKey& key) {
  for (auto& view : ReadAgents(paths)) {
    if (view.agent.key() == key) return std::move(view);
  }
  return std::nullopt;
}

void WatchAgents(Watch& watch, const HomePaths& paths) {
  // The parents too, so that a directory that appears later is seen.
  for (const auto& directory : {paths.home(), paths.home() + "/data", paths.DataOperator(), paths.StatusDir(), paths.AgentsDir()}) {
    watch.Add(directory);
  }
  for (const auto& ns : Names(paths.StatusDir())) watch.Add(JoinPath(paths.StatusDir(), ns));
}

Summary SummaryOf(const AgentView& view) {
  const auto& conditions = view.agent.status.conditions;
  const Condition* ready = FindCondition(conditions, "Ready");
  const Condition* accepted = FindCondition(conditions, "Accepted");
  const bool refused = accepted != nullptr && accepted->status == Truth::kFalse;
  Summary summary{"Unknown", "Pending", "the operator has not looked at it yet"};
  if (ready != nullptr) summary = {std::string(WordOf(kTruths, ready->status)), ready->reason, ready->message};
  if (refused) {
    summary.reason = accepted->reason;
    summary.message = accepted->message;
  } else if (view.definition && !view.definition->problems.empty()) {
    if (!view.has_status) summary.ready = "False";
    summary.reason = view.definition->problems.front().reason;
    summary.message = Join(view.definition->problems, "; ");
  } else if (view.removing()) {
    summary.reason = "Deleting";
    summary.message = "no file defines it any more; the operator removes it";
  }
  return summary;
}

std::string ToJson(const HomePaths& paths, const AgentView& view, int indent) {
  Agent agent = view.agent;
  AgentLocal local;
  local.workspace = paths.Workspace(agent.key());
  if (!agent.metadata.uid.empty()) local.socket = paths.GatewaySocket(agent.metadata.uid);
  if (view.definition) local.source = view.definition->file;
  agent.local = std::move(local);
  return EncodeAgent(agent, indent);
}

}  // namespace beige::cli
