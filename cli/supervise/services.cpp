#include "cli/supervise/services.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/spawn.h"
#include "base/unix_socket.h"
#include "cli/processes.h"
#include "cli/supervise/bound_exec.h"
#include "cli/supervise/view_check.h"

namespace beige::cli {
namespace {
std::vector<std::string> CommandOf(const HomePaths& paths, const char* process) {
  return {ExecutableDir() + "/" + process, "--home", paths.home()};
}

Result<Launch> LaunchBound(const HomePaths& paths, const char* process) {
  return Launch{BoundCommand(CommandOf(paths, process)), CurrentEnvironment(), false};
}

Result<Launch> LaunchInView(const HomePaths& paths, const ViewInForce& in_force, bool as_root) {
  // Described anew for each start: the engine's socket may have moved.
  BEIGE_ASSIGN(GatewayView view, DescribeGatewayView(paths, ProcessEnv()));
  if (as_root) view = AsRoot(std::move(view));
  *in_force = view;
  Launch launch;
  std::vector<std::string> descriptors = {"--info-fd", "3"};
  if (!view.ids.empty()) descriptors.insert(descriptors.end(), {"--userns-block-fd", "4"});
  launch.ids = view.ids;
  launch.argv = ViewCommand(view, descriptors);
  for (auto& argument : CommandOf(paths, kGatewayProcess)) launch.argv.push_back(std::move(argument));
  launch.environment = CurrentEnvironment();
  launch.through_bubblewrap = true;
  return launch;
}
}  // namespace

PrivilegeSplit ProbePrivilegeSplit(const HomePaths& paths) {
  const auto view = DescribeGatewayView(paths, ProcessEnv());
  if (!view) return {"none", view.error().message};
  const auto proved = ProveView(paths, *view);
  if (!proved && !HasOwnUid(*view)) return {"none", proved.error().message};
  if (proved && HasOwnUid(*view) == view->as_root) return {"namespace", ""};
  if (!proved) {
    if (const auto second = ProveView(paths, AsRoot(*view)); !second) return {"none", second.error().message};
  }
  return {"namespace", "the gateway runs as root in its view, and may change the kernel's settings (/proc/sys): " +
                           (proved ? "no uid beside uidRange is free, or this root may not map ids" : proved.error().message)};
}

std::vector<Service> ServicesOf(const HomePaths& paths, const PrivilegeSplit& split, const ViewInForce& view) {
  const bool in_view = split.kind == "namespace";
  return {
      {kGatewayProcess, paths.ProcessLog(kGatewayProcess), [=] { return in_view ? LaunchInView(paths, view, !split.reason.empty()) : LaunchBound(paths, kGatewayProcess); }},
      {kOperatorProcess, paths.ProcessLog(kOperatorProcess), [=] { return LaunchBound(paths, kOperatorProcess); }},
  };
}

std::string UnmaskedEngine(const HomePaths& paths, const ViewInForce& view) {
  if (!*view) return "";
  const auto now = DescribeGatewayView(paths, ProcessEnv());
  if (!now) return "";  // the gateway's own start would fail as well and say why
  const GatewayView& then = **view;
  for (size_t i = 0; i < now->masked.size(); ++i) {
    const auto known = std::find(then.masked.begin(), then.masked.end(), now->masked[i]);
    if (known == then.masked.end() || then.masked_ids[static_cast<size_t>(known - then.masked.begin())] != now->masked_ids[i]) return now->masked[i];
  }
  return "";
}

bool GatewayAnswers(const HomePaths& paths, pid_t pid) {
  const auto info = ReadGatewayInfo(paths);
  return pid > 0 && info && info->pid == pid && ConnectUnix(paths.CliSocket()).has_value();
}

bool OperatorAnswers(const HomePaths& paths, pid_t pid) {
  const auto info = ReadOperatorInfo(paths);
  return pid > 0 && info && info->pid == pid;
}

std::string LastLogWord(const std::string& log) {
  const auto text = ReadRegular(log, 64u << 20);
  if (!text) return "";
  std::string_view rest = *text;
  std::string fallback;
  for (int lines = 0; lines < 20 && !rest.empty(); ++lines) {
    while (rest.ends_with('\n')) rest.remove_suffix(1);
    const size_t start = rest.rfind('\n') + 1;  // npos + 1 is 0
    const std::string line(rest.substr(start));
    rest = rest.substr(0, start);
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (!object.is_object()) {
      // A last word to a person: `beige: beige-operator: why`.
      if (line.starts_with("beige: ")) return line.substr(line.starts_with("beige: beige-") ? line.find(": ", 7) + 2 : 7);
      if (fallback.empty()) fallback = line;
      continue;
    }
    std::string word = object.value("msg", "");
    for (const char* key : {"error", "why"}) {
      if (const std::string error = object.value(key, ""); !error.empty()) word += ": " + error;
    }
    // The reason is the last error; a farewell line may follow it.
    if (object.value("level", "") == "error") return word;
    if (fallback.empty()) fallback = word;
  }
  return fallback;
}

}  // namespace beige::cli
