#include "operator/source/merge.h"

#include <utility>

namespace beige {
namespace {
struct Claim {
  std::string file;
  const LoadedAgent* document = nullptr;  // nullptr: only lingers in that file
  const FileView* view = nullptr;
};

const Claim& Choose(const std::vector<Claim>& claims, const std::string& owner) {
  const Claim* best = &claims.front();
  const auto rank = [&](const Claim& c) { return (c.document ? 2 : 0) + (c.file == owner ? 1 : 0); };
  for (const Claim& claim : claims) {
    if (rank(claim) > rank(*best)) best = &claim;
  }
  return *best;
}

Problem Refused(const Claim& loser, const AgentKey& key, const std::string& holder) {
  return {.file = loser.file, .line = 0, .column = 0, .path = "metadata.name",
          .message = "agent " + key.ToString() + " is already defined in " + holder + ", which keeps it; give this one another name or remove it",
          .reason = "DuplicateAgent"};
}

std::vector<Problem> NamelessProblems(const FileView& view) {
  std::vector<Problem> problems;
  for (const LoadedAgent& loaded : view.agents) {
    if (!loaded.key) problems.insert(problems.end(), loaded.problems.begin(), loaded.problems.end());
  }
  return problems;
}
}  // namespace

void Merger::Seed(const KnownAgent& known) {
  owners_[known.agent.key()] = known.file;
  last_good_[known.agent.key()] = known.agent;
}

Snapshot Merger::Merge(const std::map<std::string, FileView>& views) {
  Snapshot snapshot;
  std::map<AgentKey, std::vector<Claim>> claims;
  for (const auto& [file, view] : views) {
    snapshot.problems.insert(snapshot.problems.end(), view.problems.begin(), view.problems.end());
    const std::vector<Problem> nameless = NamelessProblems(view);
    if (view.problems.empty()) snapshot.problems.insert(snapshot.problems.end(), nameless.begin(), nameless.end());
    for (const LoadedAgent& loaded : view.agents) {
      if (!loaded.key) continue;
      auto& of_key = claims[*loaded.key];
      if (!of_key.empty() && of_key.back().file == file) continue;  // twice in one file: the loader's problem
      of_key.push_back({file, &loaded, &view});
    }
    for (const AgentKey& key : view.lingering) claims[key].push_back({file, nullptr, &view});
  }

  for (const auto& [key, of_key] : claims) {
    const Claim& holder = Choose(of_key, owners_[key]);
    owners_[key] = holder.file;
    SourceAgent entry;
    entry.file = holder.file;
    if (holder.document && holder.document->agent) last_good_[key] = *holder.document->agent;
    if (auto good = last_good_.find(key); good != last_good_.end()) entry.agent = good->second;
    if (!holder.view->problems.empty()) {
      entry.problems = holder.view->problems;
    } else if (holder.document) {
      entry.problems = holder.document->problems;
      snapshot.problems.insert(snapshot.problems.end(), entry.problems.begin(), entry.problems.end());
    } else {
      entry.problems = NamelessProblems(*holder.view);
    }
    for (const Claim& claim : of_key) {
      if (&claim == &holder || !claim.document) continue;
      entry.conflicts.push_back(Refused(claim, key, holder.file));
      snapshot.problems.push_back(entry.conflicts.back());
    }
    // Lingers, but nothing is known of it (a restart lost it): nothing to keep.
    if (!entry.agent && !holder.document && entry.problems.empty()) continue;
    snapshot.agents.emplace(key, std::move(entry));
  }
  return snapshot;
}

void Merger::Forget(const Snapshot& delivered) {
  std::erase_if(owners_, [&](const auto& item) { return !delivered.agents.contains(item.first); });
  std::erase_if(last_good_, [&](const auto& item) { return !delivered.agents.contains(item.first); });
}

}  // namespace beige
