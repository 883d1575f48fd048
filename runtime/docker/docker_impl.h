#ifndef BEIGE_RUNTIME_DOCKER_DOCKER_IMPL_H_
#define BEIGE_RUNTIME_DOCKER_DOCKER_IMPL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "runtime/docker/docker_runtime.h"
#include "runtime/docker/networks.h"
#include "runtime/engine/http.h"
#include "runtime/engine/wire.h"

namespace beige::runtime::docker {

// Only this folder sees it. The definitions are spread over the .cpp files by concern: lifecycle, observe, images, verify.
class DockerRuntime : public SandboxRuntime {
 public:
  explicit DockerRuntime(DockerOptions options);

  Result<EngineInfo> Ping() override;
  Result<std::vector<Observed>> List(const std::string& home) override;
  Result<std::optional<Observed>> Observe(const std::string& id) override;
  Result<std::optional<Observed>> FindByName(const std::string& name) override;
  Result<std::string> Create(const SandboxSpec& spec) override;
  Result<> Start(const std::string& id) override;
  Result<> Stop(const std::string& id, int grace_seconds) override;
  Result<> Unpause(const std::string& id) override;
  Result<> Rename(const std::string& id, const std::string& name) override;
  Result<> Remove(const std::string& id) override;
  Result<> Prune(const std::string& home) override;
  Result<std::vector<Mismatch>> Verify(const SandboxSpec& spec, const std::string& id) override;
  Result<std::optional<Image>> FindImage(const std::string& reference) override;
  Result<> LoadImage(const std::string& tar_path, const Progress& progress) override;
  Result<> PullImage(const std::string& reference, const Progress& progress) override;
  Result<> BuildImage(const std::string& context_tar, const std::string& tag, const Progress& progress) override;
  Result<Stats> ReadStats(const std::string& id) override;
  Result<std::string> Logs(const std::string& id, int tail_lines) override;
  std::unique_ptr<Subscription> Subscribe(const std::string& home, std::function<void(const Event&)> on_event,
                                          std::function<void(bool up)> on_state) override;

 private:
  // nullopt when there is no such container.
  Result<std::optional<engine::ContainerInspect>> Inspect(const std::string& id_or_name);
  Result<std::optional<engine::ImageInspect>> InspectImage(const std::string& reference);
  // Creates, and waits out the seconds for which a container that is being removed still holds the name.
  Result<std::string> CreateNamed(const std::string& name, const std::string& body);
  Result<> Delete(const std::string& id);
  // Kept until the next Ping, which the operator makes at every resync.
  Result<engine::EngineDefaults> Defaults();
  Result<> Follow(const engine::Call& call, const Progress& progress);

  DockerOptions options_;
  engine::EngineHttp http_;
  Guarded<std::optional<engine::EngineDefaults>> defaults_;
  Networks networks_;
};

}  // namespace beige::runtime::docker

#endif
