#include "operator/source/file_table.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/files.h"

namespace beige {
namespace fs = std::filesystem;
namespace {
constexpr size_t kMaxLinkTargets = 32;

bool EndsWith(const std::string& text, std::string_view end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::set<AgentKey> KeysOf(const FileView& view) {
  std::set<AgentKey> keys = view.lingering;
  for (const LoadedAgent& loaded : view.agents) {
    if (loaded.key) keys.insert(*loaded.key);
  }
  return keys;
}

void Earliest(std::optional<SteadyTime>& wake, SteadyTime at) { wake = wake ? std::min(*wake, at) : at; }
}  // namespace

bool IsAgentFileName(const std::string& name) {
  if (name.empty() || name[0] == '.' || name[0] == '#' || name.back() == '~') return false;
  return EndsWith(name, ".yaml") || EndsWith(name, ".yml") || EndsWith(name, ".json");
}

void FileTable::Seed(const std::string& file, const std::set<AgentKey>& keys) {
  entries_[file].changed_at = clock_.Now();
  views_[file].lingering = keys;
}

FileStamp FileTable::Look(const std::string& path) {
  const FileStamp stamp = StampOf(path);
  struct stat link {};
  if (stamp.size >= 0 && ::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode) && link_targets_.size() < kMaxLinkTargets) {
    std::error_code ignored;
    const fs::path real = fs::canonical(path, ignored);
    if (!ignored) link_targets_.insert(real.parent_path().string());
  }
  return stamp;
}

Result<std::optional<SteadyTime>> FileTable::Scan(const std::set<std::string>& writing) {
  BEIGE_ASSIGN(const std::vector<std::string> names, ListDir(directory_));
  const SteadyTime now = clock_.Now();
  std::optional<SteadyTime> wake;
  std::set<std::string> seen;
  link_targets_.clear();

  for (const std::string& name : names) {
    if (!IsAgentFileName(name)) continue;
    const std::string path = JoinPath(directory_, name);
    const FileStamp signature = Look(path);
    if (signature.size < 0 && !Exists(path)) continue;  // gone again
    seen.insert(path);
    auto [it, is_new] = entries_.try_emplace(path);
    Entry& entry = it->second;
    FileView& view = views_[path];
    entry.missing_since.reset();
    if (is_new || entry.signature != signature) {
      entry.signature = signature;
      entry.changed_at = now;
      entry.unread = true;
    }
    const SteadyTime settled = entry.changed_at + kSettle;
    if (entry.unread && writing.contains(name) && now < settled) {
      Earliest(wake, settled);
      continue;
    }
    if (entry.unread) Take(path, entry, view);
    if (entry.doubtful && now >= settled) {
      view.lingering.clear();
      entry.doubtful = false;
    }
    if (entry.doubtful) Earliest(wake, settled);
  }

  for (auto it = entries_.begin(); it != entries_.end();) {
    Entry& entry = it->second;
    if (seen.contains(it->first)) {
      ++it;
      continue;
    }
    if (!entry.missing_since) entry.missing_since = now;
    if (now >= *entry.missing_since + kMissing) {
      views_.erase(it->first);
      it = entries_.erase(it);
      continue;
    }
    FileView& view = views_[it->first];
    view.lingering = KeysOf(view);
    view.agents.clear();
    view.problems.clear();
    entry.signature = {};
    Earliest(wake, *entry.missing_since + kMissing);
    ++it;
  }
  return wake;
}

void FileTable::Take(const std::string& path, Entry& entry, FileView& view) {
  entry.unread = false;
  LoadedFile loaded;
  if (auto text = ReadRegular(path, kMaxBytes)) {
    loaded = LoadAgents(*text, path);
  } else {
    loaded.problems.push_back({.file = path, .line = 0, .column = 0, .path = "", .message = text.error().message,
                               .reason = "InvalidSpec"});
  }
  if (!loaded.problems.empty()) {
    view.problems = std::move(loaded.problems);
    entry.doubtful = false;  // broken: what it had stays, with a reason
    return;
  }
  std::set<AgentKey> before = KeysOf(view);
  bool nameless = false;
  for (const LoadedAgent& agent : loaded.agents) {
    if (agent.key) {
      before.erase(*agent.key);
    } else {
      nameless = true;
    }
  }
  view.problems.clear();
  view.agents = std::move(loaded.agents);
  view.lingering = std::move(before);
  // An entry whose name can't be read may be any of those that are missing, so they stay for as long as it stands there.
  entry.doubtful = !view.lingering.empty() && !nameless;
}

}  // namespace beige
