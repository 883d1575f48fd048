#include "operator/reconcile/sweep.h"

#include "base/log.h"

namespace beige {
namespace {
constexpr unsigned kPruneEvery = 10;
}

void Sweep::QueueAll() {
  if (const auto desired = d_.desired.Copy()) {
    for (const auto& [key, agent] : desired->agents) d_.queue.Add(key);
  }
  for (const AgentKey& key : d_.identities.TombstoneKeys()) d_.queue.Add(key);
}

Result<> Sweep::Run() {
  const auto down = [&](const Error& error) -> Result<> {
    if (d_.index.SetDown(error.message)) {
      LogWarn("engine does not answer", {{"why", error.message}});
      QueueAll();
    }
    return tl::make_unexpected(error);
  };
  auto info = d_.runtime.Ping();
  if (!info) return down(info.error());
  std::vector<runtime::Observed> all;
  if (!d_.home.copied) {
    auto listed = d_.runtime.List(d_.home.id);
    if (!listed) return down(listed.error());
    all = std::move(*listed);
  }
  const std::set<AgentKey> changed = d_.index.Replace(all);
  if (d_.index.SetUp(*info)) {
    LogInfo("engine answers", {{"engine", info->type}, {"version", info->version}, {"api", info->api_version}});
    QueueAll();
  } else {
    for (const AgentKey& key : changed) d_.queue.Add(key);
  }

  const auto desired = d_.desired.Copy();
  if (!desired) return {};
  if (d_.home.copied) return {};
  for (const runtime::Observed& sandbox : all) {
    if (sandbox.key.home != d_.home.id || d_.identities.KnowsUid(sandbox.key.uid)) continue;
    const AgentKey key{sandbox.key.namespace_, sandbox.key.agent};
    LogInfo("removing a stray sandbox", {{"agent", key.ToString()}, {"name", sandbox.name}, {"uid", sandbox.key.uid}});
    BEIGE_TRY(d_.runtime.Remove(sandbox.id));
    d_.index.Drop(sandbox.key.uid, sandbox.id);
    d_.events.Record(key, EventType::kNormal, "StrayRemoved", "removed container " + sandbox.name + " of an agent that is gone");
  }
  if (slow_.fetch_add(1) % kPruneEvery == 0) return d_.runtime.Prune(d_.home.id);
  return {};
}

}  // namespace beige
