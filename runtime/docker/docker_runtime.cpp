#include "runtime/docker/docker_runtime.h"

#include <utility>

#include "runtime/docker/docker_impl.h"
#include "runtime/engine/event_stream.h"

namespace beige::runtime::docker {

namespace {

engine::HttpOptions Http(const DockerOptions& options) {
  engine::HttpOptions http;
  http.engine = "docker";
  http.socket = options.socket;
  http.start_hint = "start it (systemctl start docker)";
  http.ping_deadline = std::min<std::chrono::milliseconds>(options.deadline, std::chrono::seconds(5));
  http.observer = options.observer;
  return http;
}

}  // namespace

DockerRuntime::DockerRuntime(DockerOptions options) : options_(std::move(options)), http_(Http(options_)), networks_(http_) {}

std::unique_ptr<SandboxRuntime> MakeDockerRuntime(DockerOptions options) { return std::make_unique<DockerRuntime>(std::move(options)); }

Result<EngineInfo> DockerRuntime::Ping() {
  // Asked afresh, so that an engine which was replaced by another is seen.
  http_.Forget();
  defaults_.Set(std::nullopt);
  BEIGE_ASSIGN(const engine::ServerInfo server, http_.Server());
  BEIGE_ASSIGN(const engine::Response answer, http_.Request(engine::Call{.operation = "version", .path = "/version", .deadline = options_.deadline}));
  BEIGE_ASSIGN(EngineInfo info, engine::DecodeVersion(answer.body));
  info.api_version = server.api.Text();
  if (server.libpod) info.type = "podman";
  return info;
}

std::unique_ptr<SandboxRuntime::Subscription> DockerRuntime::Subscribe(const std::string& home, std::function<void(const Event&)> on_event,
                                                                       std::function<void(bool up)> on_state) {
  return std::make_unique<engine::EventStream>(http_, home, std::move(on_event), std::move(on_state));
}

}  // namespace beige::runtime::docker
