#include "operator/store/status_store.h"

#include <utility>

#include "api/load.h"
#include "base/files.h"

namespace beige {

std::optional<Agent> StatusStore::Last(const AgentKey& key) {
  using Map = std::map<AgentKey, Agent>;
  auto cached = last_.With([&](const Map& m) -> std::optional<Agent> {
    const auto it = m.find(key);
    return it == m.end() ? std::nullopt : std::optional(it->second);
  });
  if (cached) return cached;
  auto text = ReadFileIfExists(paths_.StatusFile(key));
  if (!text || !*text) return std::nullopt;
  auto agent = DecodeAgent(**text);
  if (!agent) return std::nullopt;  // torn or foreign: written anew
  last_.With([&](Map& m) { m[key] = *agent; });
  return std::move(*agent);
}

Result<bool> StatusStore::Write(const Agent& agent) {
  const AgentKey key = agent.key();
  if (const auto last = Last(key); last && *last == agent && Exists(paths_.StatusFile(key))) return false;
  BEIGE_TRY(MakeDirs(paths_.StatusDir() + "/" + key.namespace_, 0700));
  BEIGE_TRY(WriteFileAtomic(paths_.StatusFile(key), EncodeAgent(agent, 2) + "\n", 0600));
  last_.With([&](auto& m) { m[key] = agent; });
  return true;
}

Result<> StatusStore::Remove(const AgentKey& key) {
  last_.With([&](auto& m) { m.erase(key); });
  return RemoveFile(paths_.StatusFile(key));
}

std::set<AgentKey> StatusStore::OnDisk() const {
  std::set<AgentKey> keys;
  const auto namespaces = ListDir(paths_.StatusDir());
  if (!namespaces) return keys;
  for (const std::string& ns : *namespaces) {
    const auto files = ListDir(JoinPath(paths_.StatusDir(), ns));
    if (!files) continue;
    for (const std::string& file : *files) {
      if (file.front() != '.' && file.ends_with(".json")) keys.insert({ns, file.substr(0, file.size() - 5)});
    }
  }
  return keys;
}

}  // namespace beige
