#include "gateway/roster/entry.h"

#include <algorithm>

#include "base/files.h"
#include "base/log.h"
#include "gateway/audit/audit_log.h"
#include "gateway/llm/model.h"
#include "gateway/metrics/metrics.h"

namespace beige {

RosterEntry::RosterEntry(RosterHost& host, const admin::Grant& grant)
    : host_(host), party_(host.turns), grant_(grant), tools_(host.cells, party_, host.paths, grant.agent, [this] {
        if (Judge()) host_.on_event(in_force_);
      }) {}

RosterEntry::~RosterEntry() = default;

Result<std::unique_ptr<RosterEntry>> RosterEntry::Make(RosterHost& host, const admin::Grant& grant, const Catalogue& catalogue) {
  const std::string& uid = grant.agent.uid;
  const std::string directory = host.paths.LinkDir(uid);
  BEIGE_TRY(MakeDirs(host.paths.RunDir(), 0700));
  BEIGE_TRY(MakeDirs(directory, 0755));
  BEIGE_TRY(MakeDirs(JoinPath(directory, "bin"), 0755));  // mount point of /beige/bin
  BEIGE_TRY(MakeDirs(host.paths.KeysDir(), 0700));
  std::unique_ptr<RosterEntry> entry(new RosterEntry(host, grant));
  ControlOptions control;
  control.party = &entry->party_;
  BEIGE_ASSIGN(entry->control_, ControlPoint::Open(host.loop, host.batch, host.clock, host.paths.ControlSocket(uid),
                                                   JoinPath(host.paths.KeysDir(), uid + ".json"), entry.get(), control));
  const LinkLimits limits = catalogue.config ? catalogue.config->limits : LinkLimits{};
  const AgentKey key = grant.agent.key();
  GatewayMetrics& metrics = host.metrics;
  BEIGE_ASSIGN(entry->link_, Link::Open(host.loop, host.batch, entry->party_, grant.agent, host.paths.GatewaySocket(uid), limits, host.calls,
                                        [&metrics, key](int delta) { metrics.AddLinkConnections(key, delta); }));
  return entry;
}

PublishedTree RosterEntry::TreeOf(const admin::Grant& grant, const Catalogue& catalogue) {
  PublishedTree tree;
  for (const auto& name : grant.tools) {
    if (const auto it = catalogue.tools.find(name); it != catalogue.tools.end()) tree.tools.push_back(it->second);
  }
  for (const auto& name : grant.skills) {
    if (const auto it = catalogue.config->skills.find(name); it != catalogue.config->skills.end()) tree.skills[name] = it->second.path;
  }
  return tree;
}

namespace {
bool HasModel(const LlmConfig& config, const std::string& text) {
  const auto name = llm::ParseModelName(text);
  if (!name) return false;
  const auto provider = config.providers.find(name->provider);
  return provider != config.providers.end() && provider->second.models.contains(name->model);
}

// What both allow; of the former's generation, since the newer one is not in force.
admin::Grant Both(const admin::Grant& former, const admin::Grant& next) {
  admin::Grant both = former;
  both.suspended = former.suspended || next.suspended;
  const auto keep = [](std::vector<std::string>& names, const std::vector<std::string>& allowed) {
    std::erase_if(names, [&](const std::string& name) { return std::find(allowed.begin(), allowed.end(), name) == allowed.end(); });
  };
  keep(both.tools, next.tools);
  keep(both.skills, next.skills);
  keep(both.core_tools, next.core_tools);
  std::erase_if(both.model_choices, [&](const ModelChoice& choice) {
    return std::none_of(next.model_choices.begin(), next.model_choices.end(), [&](const ModelChoice& other) { return other.name == choice.name; });
  });
  return both;
}
}  // namespace

void RosterEntry::Narrow(const admin::Grant& grant, const Catalogue& catalogue) {
  if (policy_) Force(Both(grant_, grant), catalogue);
}

Result<> RosterEntry::Apply(const admin::Grant& grant, const Catalogue& catalogue) {
  Narrow(grant, catalogue);
  if (catalogue.config) {
    auto published = PublishTree(host_.paths, grant.agent.uid, TreeOf(grant, catalogue));
    if (!published) {
      if (policy_) (void)PublishTree(host_.paths, grant.agent.uid, TreeOf(grant_, catalogue));
      return tl::make_unexpected(published.error());
    }
    unavailable_skills_ = std::move(*published);
  }
  Force(grant, catalogue);
  return {};
}

void RosterEntry::Force(const admin::Grant& grant, const Catalogue& catalogue) {
  policy_ = Policy::Make(grant, catalogue.names);
  if (catalogue.config) tools_.Set(TreeOf(grant, catalogue).tools);
  max_calls_ = (catalogue.config ? catalogue.config->limits : LinkLimits{}).calls;
  grant_ = grant;
  unknown_tools_.clear();
  unknown_skills_.clear();
  unknown_models_.clear();
  for (const ModelChoice& choice : grant.model_choices) {
    if (!catalogue.config || !HasModel(catalogue.config->llm, choice.name)) unknown_models_.push_back(choice.name);
  }
  for (const auto& name : grant.tools) {
    if (!catalogue.tools.contains(name)) unknown_tools_.push_back(name);
  }
  for (const auto& name : grant.skills) {
    if (!catalogue.config || !catalogue.config->skills.contains(name)) unknown_skills_.push_back(name);
  }
}

bool RosterEntry::Judge() {
  admin::InForce now;
  now.uid = grant_.agent.uid;
  now.generation = grant_.generation;
  now.unknown_tools = unknown_tools_;
  now.unknown_skills = unknown_skills_;
  now.unknown_models = unknown_models_;
  now.unavailable_skills = unavailable_skills_;
  now.unavailable_tools = tools_.Unavailable();
  for (const auto& name : grant_.tools) {
    if (tools_.Find(name) != nullptr && !now.unavailable_tools.contains(name)) now.tools.push_back(name);
  }
  if (now == in_force_) return false;
  in_force_ = std::move(now);
  return true;
}

void RosterEntry::OnRegistered(const std::string& instance, const std::string& version) {
  (void)host_.audit.Note("control", &grant_.agent, "sandbox", "PID 1 registered, instance " + instance);
  host_.on_event(admin::Registered{grant_.agent.uid, instance, version});
}

void RosterEntry::OnLost() { host_.on_event(admin::Lost{grant_.agent.uid}); }

void RosterEntry::OnRoundTrip(bool ok, int64_t micros, const std::string& message) {
  host_.on_event(admin::RoundTrip{grant_.agent.uid, ok, micros, message});
}

void RosterEntry::OnStrangers(int64_t count, const std::string& last_reason) {
  (void)host_.audit.Note("control", &grant_.agent, "sandbox", "refused " + std::to_string(count) + " on control.sock: " + last_reason);
}

void RosterEntry::ExpectProbe(const std::string& nonce, std::function<void()> seen) { link_->ExpectProbe(nonce, std::move(seen)); }

}  // namespace beige
