#include "operator/app/config_watch.h"

#include <utility>

#include "base/files.h"
#include "base/log.h"

namespace beige {
namespace {
constexpr size_t kMaxBytes = 1u << 20;
constexpr std::chrono::seconds kSettle{2};
}

ConfigWatch::ConfigWatch(const HomePaths& paths, ConfigState& config, const Clock& clock, std::function<void()> changed)
    : paths_(paths), config_(config), changed_(std::move(changed)), clock_(clock), seen_(StampOf(paths.OperatorYaml())), settling_(seen_) {}

Loaded<OperatorConfig> ConfigWatch::Read(const HomePaths& paths) {
  const std::string file = paths.OperatorYaml();
  const auto text = ReadFileIfExists(file, kMaxBytes);
  if (!text) {
    return {std::nullopt, {{.file = file, .line = 0, .column = 0, .path = "", .message = text.error().message, .reason = "InvalidSpec"}}};
  }
  if (!*text) return {OperatorConfig{}, {}};
  return LoadOperatorConfig(**text, file, ProcessEnv());
}

void ConfigWatch::Look() {
  const FileStamp now = StampOf(paths_.OperatorYaml());
  if (now == seen_) return;
  if (now != settling_) settling_since_ = clock_.Now();
  settling_ = now;
  if (MayBeHalfWritten(seen_, now) && clock_.Now() < settling_since_ + kSettle) return;
  seen_ = now;
  Loaded<OperatorConfig> loaded = Read(paths_);
  if (StampOf(paths_.OperatorYaml()) != now) return;  // written while it was read: the next look judges that
  if (!loaded.value) {
    problems_ = std::move(loaded.problems);
    LogWarn("operator.yaml is not taken over, the former one stays in force", {{"why", Join(problems_, "; ")}});
    return;
  }
  problems_.clear();
  const auto old = config_.Copy();
  OperatorConfig next = *loaded.value;
  std::string fixed;
  const auto keep = [&](const char* name, auto& value, const auto& before) {
    if (value == before) return;
    fixed += (fixed.empty() ? "" : ", ") + std::string(name);
    value = before;
  };
  keep("engine.type", next.engine_type, old->engine_type);
  keep("engine.socket", next.engine_socket, old->engine_socket);
  keep("metrics", next.metrics, old->metrics);
  keep("defaults.image", next.default_image, old->default_image);
  notice_ = fixed.empty() ? "" : "operator.yaml: " + fixed + " changed; restart the operator (beige down, beige up) to use the new value";
  if (!notice_.empty()) LogWarn(notice_);
  if (next == *old) return;
  config_.Set(std::make_shared<const OperatorConfig>(std::move(next)));
  LogInfo("operator.yaml taken over");
  changed_();
}

}  // namespace beige
