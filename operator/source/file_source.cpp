#include "operator/source/file_source.h"

#include <sys/inotify.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/log.h"

namespace beige {
namespace fs = std::filesystem;

FileSource::FileSource(Loop& loop, const Clock& clock, std::string directory, Options options, OnSnapshot on_snapshot)
    : loop_(loop),
      clock_(clock),
      directory_(std::move(directory)),
      options_(options),
      on_snapshot_(std::move(on_snapshot)),
      table_(directory_, clock),
      debounce_(loop),
      wake_(loop),
      poll_(loop) {}

void FileSource::Seed(const std::vector<KnownAgent>& known) {
  std::map<std::string, std::set<AgentKey>> by_file;
  for (const KnownAgent& agent : known) {
    merger_.Seed(agent);
    by_file[agent.file].insert(agent.agent.key());
    last_.agents[agent.agent.key()] = SourceAgent{agent.agent, {}, {}, agent.file};
  }
  for (const auto& [file, keys] : by_file) table_.Seed(file, keys);
}

void FileSource::Start() {
  OpenInotify();  // before the look, so that nothing falls between
  Scan();
  poll_.StartEvery(options_.poll, [this] {
    if (options_.use_inotify && !inotify_.is_open()) OpenInotify();
    Scan();
  });
}

void FileSource::OpenInotify() {
  if (!options_.use_inotify) return;
  Result<> opened = inotify_.Open();
  if (!opened) {
    if (!said_polling_) {
      LogWarn("file changes are seen by polling only: " + opened.error().message + "; raise fs.inotify.max_user_instances");
      said_polling_ = true;
    }
    return;
  }
  watch_ = std::make_unique<FdWatch>(loop_, inotify_.fd());
  watch_->OnReadable([this] { OnInotify(); });
  RefreshWatches();
}

void FileSource::RefreshWatches() {
  if (!inotify_.is_open()) return;
  std::set<std::string> wanted = table_.link_targets();
  wanted.insert(directory_);
  wanted.insert(fs::path(directory_).parent_path().string());  // the directory itself may be replaced, or be a link
  if (Result<> watched = inotify_.Watch(wanted); !watched && !said_polling_) {
    LogWarn("some file changes are seen by polling only: " + watched.error().message);
    said_polling_ = true;
  }
}

void FileSource::OnInotify() {
  bool relevant = false;
  for (const Inotify::Event& event : inotify_.Read()) {
    if (event.mask & IN_Q_OVERFLOW) {
      writing_.clear();
      relevant = true;
    } else if (event.directory == directory_) {
      if (event.mask & IN_MODIFY) writing_.insert(event.name);
      if (event.mask & (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)) writing_.erase(event.name);
      relevant = relevant || event.name.empty() || event.name.starts_with("..") || IsAgentFileName(event.name);
    } else if (event.directory == fs::path(directory_).parent_path()) {
      relevant = relevant || event.name == fs::path(directory_).filename();
    } else {
      relevant = true;
    }
  }
  // Not put off by further events: a file that somebody writes without end must not hide the others.
  if (!relevant || scan_pending_) return;
  scan_pending_ = true;
  debounce_.Start(options_.debounce, [this] {
    scan_pending_ = false;
    Scan();
  });
}

void FileSource::Scan() {
  auto scanned = table_.Scan(writing_);
  if (!scanned) {
    // Not a snapshot: nothing is known, so nothing changes.
    if (!said_unreadable_) LogWarn("agents can't be read, what runs is kept: " + scanned.error().message);
    said_unreadable_ = true;
    RefreshWatches();
    return;
  }
  said_unreadable_ = false;
  RefreshWatches();
  const SteadyTime now = clock_.Now();
  Snapshot next = merger_.Merge(table_.views());
  std::optional<SteadyTime> again = *scanned;
  if (auto held = hold_.Apply(next, last_, now)) again = again ? std::min(*again, *held) : *held;
  merger_.Forget(next);
  if (again) wake_.Start(*again - now + std::chrono::milliseconds(1), [this] { Scan(); });
  if (delivered_ && next == last_) return;
  last_ = std::move(next);
  delivered_ = true;
  on_snapshot_(last_);
}

}  // namespace beige
