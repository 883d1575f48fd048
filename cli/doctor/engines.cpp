#include "cli/doctor/engines.h"

#include <sys/stat.h>

#include <algorithm>

#include "api/default_image.h"
#include "base/files.h"
#include "runtime/engine/discovery.h"

namespace beige::cli {
namespace {
constexpr auto kEnginePatience = std::chrono::seconds(3);

bool IsSocket(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
}

std::string Unix(const std::optional<std::string>& value) { return value && value->starts_with("unix://") ? value->substr(7) : ""; }

// Sockets where Podman listens, the likeliest first.
std::string PodmanSocket(const EnvLookup& env) {
  if (const std::string said = Unix(env("CONTAINER_HOST")); !said.empty()) return said;
  std::vector<std::string> places = {"/run/podman/podman.sock"};
  if (const auto dir = env("XDG_RUNTIME_DIR"); dir && !dir->empty()) places.push_back(JoinPath(*dir, "podman/podman.sock"));
  for (const auto& place : places) {
    if (IsSocket(place)) return place;
  }
  return "";
}

void Probe(EngineLook& look) {
  auto facts = ProbeEngine(look.socket, kEnginePatience);
  if (facts) {
    look.state = "ok";
    look.facts = std::move(*facts);
    look.name = look.facts.type;  // a Podman may listen at Docker's place
    return;
  }
  look.state = facts.error().code == Code::kDenied ? "denied" : IsSocket(look.socket) ? "notAnswering" : "notFound";
  look.message = facts.error().message;
}

std::string Describe(const EngineFacts& facts) {
  std::string text = facts.version + " (API " + facts.api + "), " + (facts.rootless ? "rootless" : "root") + ", seccomp " + (facts.seccomp ? "on" : "off");
  if (facts.cgroup != 0) text += ", cgroup v" + std::to_string(facts.cgroup);
  return text;
}

Finding LimitsOf(const EngineLook& look) {
  std::string missing;
  const std::pair<bool, const char*> limits[] = {{look.facts.memory_limit, "memory"}, {look.facts.cpu_limit, "cpu"}, {look.facts.pids_limit, "pids"}};
  for (const auto& [has, name] : limits) {
    if (!has) missing += std::string(missing.empty() ? "" : ", ") + name;
  }
  const std::string check = "engine." + look.name + ".limits";
  if (missing.empty()) {
    if (look.facts.cgroup == 1) return Warn(check, "memory, cpu and pids, by cgroup v1, which kernels and engines give up", "boot with systemd.unified_cgroup_hierarchy=1");
    return Ok(check, "memory, cpu and pids");
  }
  return Bad(check, "the engine can't limit " + missing + ", so that no sandbox would be what its Agent asks for",
             look.facts.rootless ? "delegate the cgroup controllers to the user (systemd: Delegate=cpu memory pids of user@.service), on cgroup v2" : "enable the cgroup controllers in the kernel, with cgroup v2");
}

// The used engine's findings can fail; the other one's only inform.
void Judge(const EngineLook& look, Findings& out) {
  const std::string check = "engine." + look.name;
  const std::string unused = look.used ? "" : "; not needed";
  if (look.state == "ok") {
    out.push_back(Ok(check, look.socket + ": " + Describe(look.facts) + (look.used ? "" : "; not used")));
    if (!look.used) return;
    out.push_back(LimitsOf(look));
    if (!look.facts.seccomp) {
      out.push_back(Warn(check + ".seccomp", "the engine's seccomp filter is off; only PID 1's own filter is left", "use a kernel and an engine with seccomp (docker info shows it)"));
    }
    return;
  }
  if (look.state == "denied") {
    Finding finding = Warn(check, look.message, "run it as root, or put your user into the socket's group (such as: sudo usermod -aG docker $USER) and log in again; that group is as good as root");
    if (look.used) finding.level = Level::kFail;
    out.push_back(std::move(finding));
    return;
  }
  if (look.state == "notAnswering") {
    Finding finding = Warn(check, "not answering: " + look.message, look.used ? "start it again (systemctl restart " + look.name + ") and look at its log" : "");
    if (look.used) finding.level = Level::kFail;
    out.push_back(std::move(finding));
    return;
  }
  const std::string where = look.socket.empty() ? "" : " at " + look.socket;
  if (look.used) {
    out.push_back(Bad(check, "not found" + where, "install Docker (apt-get install docker.io) and start it, or say where it listens by engine.socket in operator.yaml or DOCKER_HOST=unix:///path"));
  } else {
    out.push_back(Ok(check, "not found" + where + unused));
  }
}

Finding ImageFinding(const EngineLook& look, const OperatorConfig& config) {
  const std::string image = DefaultImage(config);
  if (look.state != "ok") return Warn("image", image + ": not known, since no engine answers", "");
  const auto has = HasImage(look.socket, image, kEnginePatience);
  if (!has) return Warn("image", image + ": " + has.error().message, "look at the engine's log");
  if (*has) return Ok("image", image + " is in the engine");
  for (const auto& file : DefaultImageFiles()) {
    if (config.default_image.empty() && Exists(file)) return Ok("image", image + " will be loaded from " + file);
  }
  if (!image.starts_with("localhost/")) return Ok("image", image + " is not in the engine yet; it will be pulled when an agent needs it");
  return Bad("image", image + ": neither in the engine nor as a file", "build it with sandbox-image/build.sh, or name another one by defaults.image in operator.yaml");
}
}  // namespace

EngineReport LookAtEngines(const OperatorConfig& config, const EnvLookup& env) {
  EngineReport report;
  EngineLook used{"docker", "", "notFound", {}, "", true};
  if (const auto socket = runtime::engine::FindEngineSocket(config.engine_socket)) used.socket = *socket;
  if (!used.socket.empty()) Probe(used);
  EngineLook other{used.name == "docker" ? "podman" : "docker", "", "notFound", {}, "", false};
  other.socket = other.name == "podman" ? PodmanSocket(env) : "/var/run/docker.sock";
  if (!other.socket.empty() && other.socket != used.socket) {
    const std::string wanted = other.name;
    if (IsSocket(other.socket)) Probe(other);
    other.name = wanted;
  } else {
    other.socket.clear();
  }
  if (used.name == "podman") {
    report.findings.push_back(Warn("engine", "Podman answers where Docker is looked for; Beige is tested with Docker only", "use Docker, or expect differences"));
  }
  report.engines = {used, other};
  std::sort(report.engines.begin(), report.engines.end(), [](const EngineLook& a, const EngineLook& b) { return a.name < b.name; });
  for (const auto& look : report.engines) Judge(look, report.findings);
  report.findings.push_back(ImageFinding(used, config));
  return report;
}

}  // namespace beige::cli
