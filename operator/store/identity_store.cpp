#include "operator/store/identity_store.h"

#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "api/load.h"
#include "base/files.h"
#include "base/log.h"
#include "base/random.h"

namespace beige {
using nlohmann::json;
namespace {
constexpr const char* kDeleted = ".deleted";

std::string Encode(const Identity& identity) {
  const json agent = json::parse(EncodeAgent(identity.agent));
  return json{{"sandboxUid", identity.sandbox_uid}, {"sandboxGid", identity.sandbox_gid}, {"file", identity.file}, {"agent", agent}}.dump(
             2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Identity> Decode(const std::string& file) {
  BEIGE_ASSIGN(const std::string text, ReadFile(file));
  const json stored = json::parse(text, nullptr, false);
  const auto number = [&](const char* key) { return stored.contains(key) && stored[key].is_number_unsigned(); };
  if (!stored.is_object() || !number("sandboxUid") || !number("sandboxGid") || !stored.contains("agent") || !stored.contains("file") ||
      !stored["file"].is_string()) {
    return Fail(Code::kInvalid, file + ": not an agent's identity; restore it from a backup or remove it (the agent then starts as a new one)");
  }
  auto agent = DecodeAgent(stored["agent"].dump());
  if (!agent) return FailIn(file, agent.error());
  Identity identity{std::move(*agent), stored["sandboxUid"].get<uint32_t>(), stored["sandboxGid"].get<uint32_t>(),
                    stored["file"].get<std::string>()};
  if (identity.uid().empty() || identity.sandbox_uid == 0) return Fail(Code::kInvalid, file + ": want a uid and a sandboxUid that is not 0");
  return identity;
}
}  // namespace

std::string IdentityStore::FileOf(const AgentKey& key) const {
  return paths_.IdentitiesDir() + "/" + key.namespace_ + "/" + key.name + ".json";
}

std::string IdentityStore::TombstoneOf(const std::string& uid) const { return paths_.IdentitiesDir() + "/" + kDeleted + "/" + uid + ".json"; }

Result<> IdentityStore::Load() {
  BEIGE_TRY(MakeDirs(paths_.IdentitiesDir() + "/" + kDeleted, 0700));
  BEIGE_ASSIGN(const std::vector<std::string> namespaces, ListDir(paths_.IdentitiesDir()));
  State state;
  for (const std::string& name : namespaces) {
    const std::string directory = JoinPath(paths_.IdentitiesDir(), name);
    auto files = ListDir(directory);
    if (!files) continue;
    for (const std::string& file : *files) {
      if (file.front() == '.' || !file.ends_with(".json")) continue;  // a temporary file of a crash
      BEIGE_ASSIGN(Identity identity, Decode(JoinPath(directory, file)));
      if (name == kDeleted) {
        state.buried[identity.uid()] = std::move(identity);
      } else {
        const AgentKey key = identity.agent.key();
        state.living[key] = std::move(identity);
      }
    }
  }
  // A crash between writing a tombstone and removing the living file leaves both: the tombstone was the later wish.
  for (const auto& [uid, identity] : state.buried) {
    const auto it = state.living.find(identity.agent.key());
    if (it == state.living.end() || it->second.uid() != uid) continue;
    BEIGE_TRY(RemoveFile(FileOf(it->first)));
    state.living.erase(it);
  }
  state_.Set(std::move(state));
  return {};
}

std::vector<Identity> IdentityStore::All() const {
  return state_.With([](const State& s) {
    std::vector<Identity> all;
    for (const auto& [key, identity] : s.living) all.push_back(identity);
    return all;
  });
}

Result<uint32_t> IdentityStore::ChooseUid(const AgentKey& key, const UidPolicy& policy) const {
  if (!policy.may_chown) {
    if (policy.owner_uid == 0) {
      return Fail(Code::kDenied, "the home belongs to root and a uid of its own can't be given to the sandbox; run the operator as root, or "
                                 "let a plain user own the home");
    }
    return policy.owner_uid;
  }
  std::set<uint32_t> used = state_.With([](const State& s) {
    std::set<uint32_t> uids;
    for (const auto& [k, identity] : s.living) uids.insert(identity.sandbox_uid);
    for (const auto& [k, identity] : s.buried) uids.insert(identity.sandbox_uid);
    return uids;
  });
  // A kept workspace of an earlier incarnation already belongs to a uid: taking it again saves changing every file in it.
  struct stat info {};
  if (::stat(paths_.Workspace(key).c_str(), &info) == 0 && info.st_uid >= policy.first && info.st_uid <= policy.last &&
      info.st_uid != 0 && !used.contains(info.st_uid)) {
    return info.st_uid;
  }
  for (uint32_t uid = policy.first; uid <= policy.last && uid != 0; ++uid) {
    if (!used.contains(uid)) return uid;
  }
  return Fail(Code::kExhausted, "operator.yaml: uidRange: all uids " + std::to_string(policy.first) + "-" + std::to_string(policy.last) +
                                    " are in use; widen the range");
}

Result<Identity> IdentityStore::Ensure(const Agent& agent, const std::string& file, const UidPolicy& policy) {
  const AgentKey key = agent.key();
  const std::optional<Identity> stored = state_.With([&](const State& s) -> std::optional<Identity> {
    const auto it = s.living.find(key);
    return it == s.living.end() ? std::nullopt : std::optional(it->second);
  });
  Identity next;
  if (stored) {
    next = *stored;
  } else {
    BEIGE_ASSIGN(next.sandbox_uid, ChooseUid(key, policy));
    next.sandbox_gid = policy.may_chown ? next.sandbox_uid : policy.owner_gid;
    next.agent.metadata.uid = RandomUuid();
    next.agent.metadata.creation_time = FormatTime(clock_.WallNow());
  }
  const AgentMetadata kept = next.agent.metadata;
  const bool spec_differs = !stored || EncodeSpec(stored->agent.spec) != EncodeSpec(agent.spec);
  next.agent = agent;
  next.agent.status = {};
  next.agent.local.reset();
  next.agent.metadata.uid = kept.uid;
  next.agent.metadata.creation_time = kept.creation_time;
  next.agent.metadata.generation = kept.generation + (spec_differs ? 1 : 0);
  next.file = file;
  if (stored && *stored == next) return next;
  BEIGE_TRY(MakeDirs(paths_.IdentitiesDir() + "/" + key.namespace_, 0700));
  BEIGE_TRY(WriteFileAtomic(FileOf(key), Encode(next), 0600));
  state_.With([&](State& s) { s.living[key] = next; });
  return next;
}

Result<> IdentityStore::Bury(const AgentKey& key) {
  const std::optional<Identity> identity = state_.With([&](const State& s) -> std::optional<Identity> {
    const auto it = s.living.find(key);
    return it == s.living.end() ? std::nullopt : std::optional(it->second);
  });
  if (!identity) return {};
  BEIGE_TRY(WriteFileAtomic(TombstoneOf(identity->uid()), Encode(*identity), 0600));
  BEIGE_TRY(RemoveFile(FileOf(key)));
  state_.With([&](State& s) {
    s.living.erase(key);
    s.buried[identity->uid()] = *identity;
  });
  return {};
}

std::vector<Identity> IdentityStore::Tombstones(const AgentKey& key) const {
  return state_.With([&](const State& s) {
    std::vector<Identity> found;
    for (const auto& [uid, identity] : s.buried) {
      if (identity.agent.key() == key) found.push_back(identity);
    }
    return found;
  });
}

std::set<AgentKey> IdentityStore::TombstoneKeys() const {
  return state_.With([](const State& s) {
    std::set<AgentKey> keys;
    for (const auto& [uid, identity] : s.buried) keys.insert(identity.agent.key());
    return keys;
  });
}

Result<> IdentityStore::Forget(const std::string& uid) {
  BEIGE_TRY(RemoveFile(TombstoneOf(uid)));
  state_.With([&](State& s) { s.buried.erase(uid); });
  return {};
}

bool IdentityStore::KnowsUid(const std::string& uid) const {
  return state_.With([&](const State& s) {
    if (s.buried.contains(uid)) return true;
    for (const auto& [key, identity] : s.living) {
      if (identity.uid() == uid) return true;
    }
    return false;
  });
}

}  // namespace beige
