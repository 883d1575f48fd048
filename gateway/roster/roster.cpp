#include "gateway/roster/roster.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <unordered_map>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "gateway/audit/audit_log.h"
#include "gateway/metrics/metrics.h"
#include "gateway/roster/descriptor_budget.h"
#include "gateway/roster/entry.h"
#include "gateway/roster/grant_store.h"
#include "gateway/tools/confinement.h"
#include "gateway/tools/strays.h"

namespace beige {
namespace {
// The installed one of this version, else the one beside this program (a build directory).
std::string FindSandboxBinary(const HomePaths& paths) {
  for (const std::string& directory : {paths.BinDir(BEIGE_VERSION), ExecutableDir()}) {
    const std::string candidate = JoinPath(directory, "beige-sandbox");
    if (Exists(candidate)) return candidate;
  }
  return "";
}

std::string ListOf(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

std::string Describe(const admin::Grant& grant) {
  std::vector<std::string> models;
  for (const ModelChoice& choice : grant.model_choices) models.push_back(choice.name);
  return "generation " + std::to_string(grant.generation) + (grant.suspended ? " (suspended)" : "") + ": tools " + ListOf(grant.tools) +
         "; skills " + ListOf(grant.skills) + "; core tools " + ListOf(grant.core_tools) + "; models " + ListOf(models);
}
}  // namespace

// Links call it through this, so that they need not know when the real one goes.
struct Roster::Impl final : CallService {
  Impl(Loop& l, const HomePaths& p, AuditLog& a, GatewayMetrics& m, const Clock& c)
      : turns(l), paths(p), reaper(l), store(p.GrantsDir()),
        host{l, batch, turns, paths, a, m, c, {l, batch, reaper, FindBubblewrap(), [this] { return FindSandboxBinary(paths); }}, *this,
             [this](const admin::ToOperator& event) {
               if (on_event) on_event(event);
             }} {
    catalogue.names = std::make_shared<const Policy::Names>();
  }

  Id Start(CallRequest request, CallSink* sink) override {
    if (calls != nullptr) return calls->Start(std::move(request), sink);
    sink->OnExit({BGE_HOW_DENIED, 126, request.tool.substr(0, 64) + ": the gateway is stopping; try again", ""});
    return 0;
  }
  void Stdin(Id id, std::string_view bytes) override { if (calls != nullptr) calls->Stdin(id, bytes); }
  void StdinEof(Id id) override { if (calls != nullptr) calls->StdinEof(id); }
  void Signal(Id id, int number) override { if (calls != nullptr) calls->Signal(id, number); }
  void Resize(Id id, v2::TerminalSize size) override { if (calls != nullptr) calls->Resize(id, size); }
  void Credit(Id id, uint8_t stream, uint32_t bytes) override { if (calls != nullptr) calls->Credit(id, stream, bytes); }
  void Cancel(Id id) override { if (calls != nullptr) calls->Cancel(id); }
  size_t InFlight(std::string_view uid) const override { return calls != nullptr ? calls->InFlight(uid) : 0; }

  RosterEntry* FindUid(std::string_view uid) const {
    const auto it = entries.find(uid);
    return it == entries.end() ? nullptr : it->second.get();
  }

  Result<RosterEntry*> Open(const admin::Grant& grant) {
    BEIGE_ASSIGN(auto entry, RosterEntry::Make(host, grant, catalogue));
    BEIGE_TRY(entry->Apply(grant, catalogue));
    RosterEntry* raw = entry.get();
    entries[grant.agent.uid] = std::move(entry);
    host.metrics.SetAgents(entries.size());
    ShareDescriptors();
    return raw;
  }

  // The one place that sets limits of links. Of connections each gets a share, so that no flood can use up what others and the gateway itself need.
  void ShareDescriptors() {
    const LinkLimits configured = catalogue.config ? catalogue.config->limits : LinkLimits{};
    rlimit files{};
    if (entries.empty() || ::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    size_t cells = 0;
    for (const auto& [uid, entry] : entries) cells += entry->grant().tools.size();
    LinkLimits limits = configured;
    limits.connections = ConnectionsEach(configured.connections, static_cast<int64_t>(std::min<rlim_t>(files.rlim_cur, INT32_MAX)), entries.size(), cells);
    for (const auto& [uid, entry] : entries) entry->link().SetLimits(limits);
    if (limits.connections == std::exchange(connections_each, limits.connections) || limits.connections == configured.connections) return;
    LogWarn("fewer connections for each agent than limits.connections says: so many open files are not allowed; raise LimitNOFILE= or ulimit -n",
            {{"connections", std::to_string(limits.connections)}, {"wanted", std::to_string(configured.connections)},
             {"agents", std::to_string(entries.size())}, {"openFiles", std::to_string(files.rlim_cur)}});
  }

  WriteBatch batch;
  Turns turns;
  const HomePaths paths;
  Reaper reaper;
  GrantStore store;
  CallService* calls = nullptr;
  int64_t connections_each = 0;
  std::function<void(const admin::ToOperator&)> on_event;
  std::function<void(const AgentRef&)> on_removed;
  RosterHost host;
  Catalogue catalogue;
  std::unordered_map<std::string, std::unique_ptr<RosterEntry>, Policy::Hash, std::equal_to<>> entries;
};

Roster::Roster(Loop& loop, const HomePaths& paths, AuditLog& audit, GatewayMetrics& metrics, const Clock& clock)
    : impl_(std::make_unique<Impl>(loop, paths, audit, metrics, clock)) {}
Roster::~Roster() = default;

void Roster::Bind(CallService* calls) { impl_->calls = calls; }
void Roster::OnEvent(std::function<void(const admin::ToOperator&)> fn) { impl_->on_event = std::move(fn); }

void Roster::OnRemoved(std::function<void(const AgentRef&)> fn) { impl_->on_removed = std::move(fn); }

Result<> Roster::Start() {
  if (const size_t strays = EndStrayCells(impl_->paths.DataGateway() + "/tools/"); strays > 0) {
    LogInfo("ended what a former gateway left of cells that it was making", {{"processes", std::to_string(strays)}});
  }
  BEIGE_ASSIGN(const auto grants, impl_->store.Load());
  for (const auto& grant : grants) {
    auto entry = impl_->Open(grant);
    if (!entry) {
      LogError("a stored grant can't be put in force", {{"agent", grant.agent.ToString()}, {"error", entry.error().message}});
      continue;
    }
    (*entry)->Judge();
  }
  return {};
}

void Roster::SetConfig(std::shared_ptr<const GatewayConfig> config, std::vector<std::shared_ptr<const ToolManifest>> tools) {
  Catalogue next;
  next.config = std::move(config);
  auto names = std::make_shared<Policy::Names>();
  for (auto& tool : tools) {
    names->insert(tool->name);
    next.tools[tool->name] = std::move(tool);
  }
  next.names = std::move(names);
  impl_->catalogue = std::move(next);
  if (std::exchange(impl_->host.cells.least, impl_->catalogue.config->min_confinement) != impl_->catalogue.config->min_confinement) {
    for (auto& [uid, entry] : impl_->entries) entry->tools().Set({});  // they are made again below, or said not to be possible
  }
  for (auto& [uid, entry] : impl_->entries) {
    const admin::Grant grant = entry->grant();
    if (auto applied = entry->Apply(grant, impl_->catalogue); !applied) {
      LogError("the configuration can't be put in force for an agent", {{"agent", grant.agent.ToString()}, {"error", applied.error().message}});
    }
    if (entry->Judge()) impl_->host.on_event(entry->in_force());
  }
  impl_->ShareDescriptors();
}

Result<admin::InForce> Roster::Put(const admin::Grant& grant) {
  BEIGE_TRY(CheckGrant(grant));
  RosterEntry* entry = impl_->FindUid(grant.agent.uid);
  if (entry != nullptr && entry->grant() == grant) {
    entry->Judge();
    return entry->in_force();
  }
  if (entry != nullptr && entry->grant().agent != grant.agent) {
    return Fail(Code::kConflict, "grant: uid " + grant.agent.uid + " belongs to agent " + entry->grant().agent.ToString());
  }
  if (entry == nullptr) {
    BEIGE_TRY(impl_->store.Store(grant));
    auto opened = impl_->Open(grant);
    if (!opened) {
      (void)impl_->store.Remove(grant.agent.uid);
      return tl::make_unexpected(opened.error());
    }
    entry = *opened;
  } else {
    // A full disk must not keep a revocation from coming into force: what can't be stored or shown narrows what is allowed, too.
    auto done = impl_->store.Store(grant);
    if (done) {
      done = entry->Apply(grant, impl_->catalogue);
      if (!done) (void)impl_->store.Store(entry->grant());
    } else {
      entry->Narrow(grant, impl_->catalogue);
    }
    impl_->ShareDescriptors();
    if (!done) {
      if (entry->Judge()) impl_->host.on_event(entry->in_force());
      return tl::make_unexpected(done.error());
    }
  }
  // A full disk must not keep a revocation from coming into force, so a note that can't be written is only said.
  if (auto noted = impl_->host.audit.Note("grant", &grant.agent, "operator", Describe(grant)); !noted) {
    LogError("a grant is in force without its audit note", {{"agent", grant.agent.ToString()}, {"error", noted.error().message}});
  }
  entry->Judge();
  return entry->in_force();
}

Result<> Roster::Remove(const std::string& uid) {
  BEIGE_TRY(CheckUid(uid));
  if (const auto it = impl_->entries.find(uid); it != impl_->entries.end()) {
    const AgentRef agent = it->second->grant().agent;
    // Denied from here on; what runs ends with the entry.
    auto entry = std::move(it->second);
    impl_->entries.erase(it);
    entry.reset();
    if (impl_->on_removed) impl_->on_removed(agent);
    impl_->host.metrics.RemoveAgent(agent.key());
    impl_->host.metrics.SetAgents(impl_->entries.size());
    impl_->ShareDescriptors();
    (void)impl_->host.audit.Note("grant", &agent, "operator", "removed");
  }
  // All of it each time: whoever was told of a failure asks again.
  const HomePaths& paths = impl_->paths;
  Result<> first;
  for (const Result<>& step : {impl_->store.Remove(uid), RemoveTree(paths.LinkDir(uid)), RemoveFile(JoinPath(paths.KeysDir(), uid + ".json")),
                               RemoveTreeOf(paths, uid), RemoveTree(paths.DataGateway() + "/tools/" + HomePaths::Id(uid))}) {
    if (!step && first) first = step;
  }
  return first;
}

Result<> Roster::Announce(const std::string& uid, const std::string& instance) {
  RosterEntry* entry = impl_->FindUid(uid);
  if (entry == nullptr) return Fail(Code::kNotFound, "announce: no agent has uid " + uid);
  return entry->control().Announce(instance);
}

Result<> Roster::Probe(const std::string& uid) {
  RosterEntry* entry = impl_->FindUid(uid);
  if (entry == nullptr) return Fail(Code::kNotFound, "probe: no agent has uid " + uid);
  entry->control().Probe();
  return {};
}

std::vector<std::string> Roster::Uids() const {
  std::vector<std::string> uids;
  for (const auto& [uid, entry] : impl_->entries) uids.push_back(uid);
  return uids;
}

std::optional<Standing> Roster::StandingOf(std::string_view uid) const {
  RosterEntry* entry = impl_->FindUid(uid);
  if (entry == nullptr) return std::nullopt;
  return Standing{&entry->policy(), &entry->tools(), entry->control().channel(), entry->max_calls()};
}

namespace {
AgentView ViewOf(RosterEntry& entry, const CallService& calls) {
  AgentView view;
  view.grant = entry.grant();
  view.in_force = entry.in_force();
  view.connected = entry.control().channel() != nullptr;
  view.instance = view.connected ? entry.control().instance() : "";
  view.connections = entry.link().connections();
  view.calls = calls.InFlight(entry.grant().agent.uid);
  return view;
}
}  // namespace

std::vector<AgentView> Roster::List() const {
  std::vector<AgentView> views;
  for (const auto& [uid, entry] : impl_->entries) views.push_back(ViewOf(*entry, *impl_));
  return views;
}

std::optional<AgentView> Roster::Find(const AgentKey& key) const {
  for (const auto& [uid, entry] : impl_->entries) {
    if (entry->grant().agent.key() == key) return ViewOf(*entry, *impl_);
  }
  return std::nullopt;
}

}  // namespace beige
