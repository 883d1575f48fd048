#include "operator/reconcile/sandbox_index.h"

namespace beige {

SandboxIndex::Engine SandboxIndex::engine() const {
  return state_.With([](const State& s) { return s.engine; });
}

bool SandboxIndex::SetUp(const runtime::EngineInfo& info) {
  return state_.With([&](State& s) {
    const bool was_down = !s.engine.up;
    s.engine = {true, true, "", info};
    return was_down;
  });
}

bool SandboxIndex::SetDown(const std::string& message) {
  return state_.With([&](State& s) {
    const bool news = s.engine.up || !s.engine.asked;
    s.engine.up = false;
    s.engine.message = message;
    s.engine.asked = true;
    return news;
  });
}

std::vector<std::string> SandboxIndex::Ids(const std::string& uid) const {
  return state_.With([&](const State& s) {
    const auto it = s.ids.find(uid);
    return it == s.ids.end() ? std::vector<std::string>() : std::vector<std::string>(it->second.begin(), it->second.end());
  });
}

std::optional<std::string> SandboxIndex::OwnerOf(const std::string& id) const {
  return state_.With([&](const State& s) -> std::optional<std::string> {
    for (const auto& [uid, ids] : s.ids) {
      if (ids.contains(id)) return uid;
    }
    return std::nullopt;
  });
}

void SandboxIndex::Add(const std::string& uid, const std::string& id) {
  state_.With([&](State& s) { s.ids[uid].insert(id); });
}

void SandboxIndex::Drop(const std::string& uid, const std::string& id) {
  state_.With([&](State& s) {
    if (auto it = s.ids.find(uid); it != s.ids.end() && it->second.erase(id) > 0 && it->second.empty()) s.ids.erase(it);
    s.listed.erase(id);
  });
}

std::set<AgentKey> SandboxIndex::Replace(const std::vector<runtime::Observed>& all) {
  return state_.With([&](State& s) {
    std::set<AgentKey> changed;
    std::map<std::string, runtime::Observed> next;
    s.ids.clear();
    for (const runtime::Observed& sandbox : all) {
      s.ids[sandbox.key.uid].insert(sandbox.id);
      next[sandbox.id] = sandbox;
      const auto before = s.listed.find(sandbox.id);
      if (before == s.listed.end() || before->second != sandbox) changed.insert({sandbox.key.namespace_, sandbox.key.agent});
    }
    for (const auto& [id, sandbox] : s.listed) {
      if (!next.contains(id)) changed.insert({sandbox.key.namespace_, sandbox.key.agent});
    }
    s.listed = std::move(next);
    return changed;
  });
}

void SandboxIndex::Suspect(const std::string& uid) {
  state_.With([&](State& s) {
    if (!uid.empty()) {
      s.suspects.insert(uid);
    } else {
      for (const auto& [known, ids] : s.ids) s.suspects.insert(known);
    }
  });
}

bool SandboxIndex::TakeSuspicion(const std::string& uid) {
  return state_.With([&](State& s) { return s.suspects.erase(uid) > 0; });
}

}  // namespace beige
