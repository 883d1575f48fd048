#include <utility>

#include "runtime/docker/docker_impl.h"
#include "runtime/engine/labels.h"
#include "runtime/engine/log_frames.h"

namespace beige::runtime::docker {

using engine::Call;
using engine::Escape;

namespace {

constexpr size_t kMostLog = 1u << 20;

}  // namespace

Result<std::optional<engine::ContainerInspect>> DockerRuntime::Inspect(const std::string& id_or_name) {
  auto answer = http_.Request(
      Call{.operation = "inspect", .path = "/containers/" + Escape(id_or_name) + "/json", .deadline = options_.deadline});
  if (!answer && answer.error().code == Code::kNotFound) return std::nullopt;
  if (!answer) return tl::make_unexpected(answer.error());
  BEIGE_ASSIGN(engine::ContainerInspect container, engine::DecodeContainer(answer->body));
  return container;
}

// The list has neither exit codes nor times, so each is inspected (0.4 ms); one that goes meanwhile is left out.
Result<std::vector<Observed>> DockerRuntime::List(const std::string& home) {
  const std::string filters = engine::LabelFilter({{engine::kHomeLabel, home}});
  BEIGE_ASSIGN(const engine::Response answer, http_.Request(Call{.operation = "list",
                                                                 .path = "/containers/json?all=1&filters=" + Escape(filters),
                                                                 .deadline = options_.deadline}));
  BEIGE_ASSIGN(const std::vector<std::string> ids, engine::DecodeIds(answer.body));
  std::vector<Observed> out;
  for (const std::string& id : ids) {
    BEIGE_ASSIGN(const auto container, Inspect(id));
    if (!container) continue;
    Observed observed = engine::ToObserved(*container);
    if (!observed.key.uid.empty()) out.push_back(std::move(observed));  // a home label alone makes nothing ours
  }
  return out;
}

Result<std::optional<Observed>> DockerRuntime::Observe(const std::string& id) {
  BEIGE_ASSIGN(const auto container, Inspect(id));
  if (!container) return std::nullopt;
  return engine::ToObserved(*container);
}

Result<std::optional<Observed>> DockerRuntime::FindByName(const std::string& name) {
  BEIGE_ASSIGN(const auto container, Inspect(name));
  if (!container || container->name != name) return std::nullopt;  // the engine also takes the start of an id
  return engine::ToObserved(*container);
}

Result<Stats> DockerRuntime::ReadStats(const std::string& id) {
  BEIGE_ASSIGN(const engine::Response answer, http_.Request(Call{.operation = "stats",
                                                                 .path = "/containers/" + Escape(id) + "/stats?stream=false&one-shot=true",
                                                                 .deadline = options_.deadline}));
  return engine::DecodeStats(answer.body);
}

Result<std::string> DockerRuntime::Logs(const std::string& id, int tail_lines) {
  const std::string path =
      "/containers/" + Escape(id) + "/logs?stdout=1&stderr=1&tail=" + std::to_string(std::max(0, tail_lines));
  // The end of the log is what is asked for: of too much, the last megabyte is kept.
  std::string framed;
  auto read = http_.Stream(Call{.operation = "logs", .path = path, .deadline = options_.deadline}, [&](std::string_view bytes) -> Result<> {
    framed += bytes;
    if (framed.size() > (64u << 20)) return Fail(Code::kExhausted, "logs: more than 64 MiB; ask for fewer lines");
    return {};
  });
  if (!read) return tl::make_unexpected(read.error());
  std::string text = engine::JoinLogFrames(framed);
  if (text.size() > kMostLog) text.erase(0, text.size() - kMostLog);
  return text;
}

}  // namespace beige::runtime::docker
