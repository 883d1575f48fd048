#include "operator/app/intake.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "base/log.h"
#include "operator/reconcile/prepare.h"

namespace beige {
namespace {
bool Contains(const std::vector<Problem>& all, const Problem& one) { return std::find(all.begin(), all.end(), one) != all.end(); }

// Of a file and not of an agent: no condition shows it.
bool IsOfNoAgent(const Snapshot& snapshot, const Problem& problem) {
  return std::none_of(snapshot.agents.begin(), snapshot.agents.end(), [&](const auto& item) {
    return Contains(item.second.problems, problem) || Contains(item.second.conflicts, problem);
  });
}
}  // namespace

Result<UidPolicy> MakeUidPolicy(const OperatorConfig& config, const HomePaths& paths) {
  struct stat info {};
  if (::stat(paths.home().c_str(), &info) != 0) return FailErrno(errno, "home " + paths.home());
  return UidPolicy{MayGiveFilesAway(), config.uid_first, config.uid_last, info.st_uid, info.st_gid};
}

void Intake::Say(const Snapshot& snapshot, const Desired* before) {
  const AgentKey nobody{};
  if (!snapshot.notice.empty() && (!before || before->notice != snapshot.notice)) {
    LogWarn(snapshot.notice);
    d_.events.Record(nobody, EventType::kWarning, "RemovalHeld", snapshot.notice);
  }
  for (const Problem& problem : snapshot.problems) {
    if (before && Contains(before->problems, problem)) continue;
    LogWarn(problem.ToString(), {{"reason", problem.reason}});
    if (IsOfNoAgent(snapshot, problem)) d_.events.Record(nobody, EventType::kWarning, problem.reason, problem.ToString());
  }
}

void Intake::Again() {
  if (last_) OnSnapshot(Snapshot(*last_));
}

void Intake::OnSnapshot(const Snapshot& snapshot) {
  last_ = snapshot;
  incomplete_ = false;
  const std::shared_ptr<const Desired> before = d_.desired.Copy();
  auto next = std::make_shared<Desired>();
  next->problems = snapshot.problems;
  next->notice = snapshot.notice;
  const auto policy = MakeUidPolicy(*d_.config.Copy(), d_.paths);

  // The gone ones first: their uids and names are free then.
  std::set<AgentKey> changed;
  for (const Identity& identity : d_.identities.All()) {
    const AgentKey key = identity.agent.key();
    if (snapshot.agents.contains(key)) continue;
    if (Result<> buried = d_.identities.Bury(key); !buried) {
      // Not deleted rather than half deleted: it goes on as it was until the disk takes the note.
      incomplete_ = true;
      LogError("agent can't be deleted", {{"agent", key.ToString()}, {"why", buried.error().message}});
      next->agents[key] = DesiredAgent{identity, {}, {}, identity.file, std::nullopt};
      continue;
    }
    changed.insert(key);
  }
  std::map<AgentKey, Identity> accepted;
  for (const Identity& identity : d_.identities.All()) accepted[identity.agent.key()] = identity;
  for (const auto& [key, source] : snapshot.agents) {
    DesiredAgent agent{std::nullopt, source.problems, source.conflicts, source.file, std::nullopt};
    if (source.agent) {
      auto identity = policy ? d_.identities.Ensure(*source.agent, source.file, *policy)
                             : Result<Identity>(tl::make_unexpected(policy.error()));
      if (identity) {
        agent.identity = std::move(*identity);
      } else {
        agent.identity_error = identity.error();
        incomplete_ = true;
      }
    }
    // What runs goes on: the source has no valid version, or the new one could not be noted.
    if (const auto it = accepted.find(key); !agent.identity && it != accepted.end()) agent.identity = it->second;
    next->agents[key] = std::move(agent);
  }
  for (const auto& [key, agent] : next->agents) {
    const auto* old = before && before->agents.contains(key) ? &before->agents.at(key) : nullptr;
    if (!old || *old != agent) changed.insert(key);
  }
  if (before) {
    for (const auto& [key, agent] : before->agents) {
      if (!next->agents.contains(key)) changed.insert(key);
    }
  }
  Say(snapshot, before.get());
  d_.desired.Set(std::move(next));
  if (!before) d_.first();
  for (const AgentKey& key : changed) d_.changed(key);
}

}  // namespace beige
