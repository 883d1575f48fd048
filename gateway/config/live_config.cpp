#include "gateway/config/live_config.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "gateway/config/last_good.h"

namespace beige {
namespace {
std::string Shown(const Listen& listen) { return listen.host + ":" + std::to_string(listen.port); }

void CompareListen(const char* key, const Listen& in_force, const Listen& wanted, std::vector<std::string>& notes) {
  if (in_force == wanted) return;
  notes.push_back(std::string("gateway.yaml: ") + key + ": listens on " + Shown(in_force) + "; " + Shown(wanted) +
                  " takes effect when the gateway is started again (beige down, beige up)");
}
}  // namespace

LiveConfig::LiveConfig(Loop& loop, HomePaths paths, EnvLookup env, Times times, Callbacks callbacks)
    : loop_(loop), paths_(std::move(paths)), env_(std::move(env)), times_(times), callbacks_(std::move(callbacks)), settle_(loop), poll_(loop) {}

std::vector<Problem> LiveConfig::Start() {
  std::set<std::string> files;
  auto loaded = Load(files);
  if (!loaded.value) {
    auto former = LoadLastGood(paths_, env_);
    if (!former) return loaded.problems;
    current_ = std::move(*former);
    failed_ = true;
    for (const Problem& problem : loaded.problems) problems_.push_back(problem.ToString());
    problems_.push_back("the configuration that was last valid stays in force");
  } else {
    Adopt(std::move(*loaded.value));
  }
  WatchFiles(files);
  return {};
}

Loaded<ConfigSet> LiveConfig::Load(std::set<std::string>& files) {
  const TextReader disk = DiskReader();
  return LoadConfigSet(
      paths_,
      [&](const std::string& path) {
        files.insert(path);
        return disk(path);
      },
      env_);
}

void LiveConfig::Adopt(ConfigSet set) {
  current_ = std::move(set);
  failed_ = false;
  if (auto saved = SaveLastGood(paths_, current_); !saved) LogWarn("config not kept for a later start", {{"error", saved.error().message}});
}

void LiveConfig::Watch() {
  dir_watch_ = std::make_unique<DirWatch>(loop_, [this] { Changed(); });
  if (!dir_watch_->works()) {
    const std::string every = FormatDuration(times_.poll);
    LogWarn("config: inotify is used up; changes are noticed by polling", {{"every", every}});
  }
  dir_watch_->Set(watched_.directories);
  poll_.StartEvery(times_.poll, [this] {
    dir_watch_->Set(watched_.directories);  // a directory may have come back, or be another one
    Changed();
    if (failed_) ReloadIfChanged();
  });
  Changed();  // between Start and here
}

// Watches what the set in force names and what the last load read: a new gateway.yaml that failed may name other files.
void LiveConfig::WatchFiles(const std::set<std::string>& also) {
  watched_ = FilesOf(paths_, current_, also);
  loaded_fingerprint_ = FingerprintOf(watched_);
  loaded_stamp_ = StampOf(paths_.GatewayYaml());
  if (dir_watch_) dir_watch_->Set(watched_.directories);
  // What was written between reading and taking the fingerprint would never be noticed.
  const TextReader disk = DiskReader();
  for (const auto& [path, text] : current_.texts) {
    const auto now = disk(path);
    if (!failed_ && (!now || *now != text)) loaded_fingerprint_.clear();
  }
}

void LiveConfig::Changed() {
  const std::string now = FingerprintOf(watched_);
  if (now == loaded_fingerprint_ || now == settling_fingerprint_) return;
  settling_fingerprint_ = now;
  const bool doubtful = MayBeHalfWritten(loaded_stamp_, StampOf(paths_.GatewayYaml()));
  settle_.Start(doubtful ? times_.doubtful : times_.settle, [this] { Settle(); });
}

void LiveConfig::Settle() {
  const std::string now = FingerprintOf(watched_);
  if (now != settling_fingerprint_) {
    Changed();
    return;
  }
  settling_fingerprint_.clear();
  ReloadIfChanged();
}

bool LiveConfig::ReloadIfChanged() {
  if (!failed_ && FingerprintOf(watched_) == loaded_fingerprint_) return false;
  std::set<std::string> files;
  auto loaded = Load(files);
  if (!loaded.value) {
    failed_ = true;
    WatchFiles(files);
    std::vector<std::string> problems;
    for (const Problem& problem : loaded.problems) problems.push_back(problem.ToString());
    SetProblems(std::move(problems));
    return false;
  }
  std::vector<std::string> notes;
  CompareListen("http.listen", current_.config->http, loaded.value->config->http, notes);
  CompareListen("metrics.listen", current_.config->metrics, loaded.value->config->metrics, notes);
  GatewayConfig config = *loaded.value->config;
  config.http = current_.config->http;  // what is in force
  config.metrics = current_.config->metrics;
  loaded.value->config = std::make_shared<const GatewayConfig>(std::move(config));
  Adopt(std::move(*loaded.value));
  WatchFiles(files);
  SetProblems(std::move(notes));
  callbacks_.applied(current_);
  return true;
}

void LiveConfig::SetProblems(std::vector<std::string> problems) {
  if (problems == problems_) return;
  problems_ = std::move(problems);
  callbacks_.problems(problems_);
}

}  // namespace beige
