#include "cli/apply.h"

#include "base/files.h"
#include "cli/agent_input.h"
#include "cli/home_agents.h"
#include "cli/report.h"
#include "cli/supervise/up_lock.h"

namespace beige::cli {
namespace {
std::string FileFor(const HomePaths& paths, const AgentKey& key) {
  return JoinPath(paths.AgentsDir(), key.namespace_ + "." + key.name + ".yaml");
}

bool Same(const Agent& a, const Agent& b) { return a.spec == b.spec && a.metadata.labels == b.metadata.labels; }

int ReportProblems(const std::vector<Problem>& problems) {
  for (const auto& problem : problems) PrintError("apply", problem.ToString() + (problems.size() == 1 ? "; nothing was written" : ""));
  if (problems.size() > 1) PrintError("apply", std::to_string(problems.size()) + " problems; nothing was written");
  return kUsage;
}
}  // namespace

int RunApply(const Globals& globals, const std::vector<std::string>& inputs) {
  const HomePaths paths = globals.paths();
  auto input = ReadInput(globals, inputs);
  if (!input) return Report("apply", input.error());
  if (!input->problems.empty()) return ReportProblems(input->problems);

  const auto definitions = ReadDefinitions(paths);
  for (const auto& given : input->agents) {
    const auto it = definitions.find(given.agent.key());
    const std::string own = FileFor(paths, given.agent.key());
    const bool elsewhere = it != definitions.end() && it->second.file != own;
    if (elsewhere || (it != definitions.end() && it->second.documents > 1)) {
      return Report("apply", kFailed, AgentTitle(given.agent.key()) + " is defined in " + it->second.file + ", which apply doesn't change; edit that file, or remove the agent from it first");
    }
    // A file of ours that holds something else by now was edited by hand.
    if (it == definitions.end() && Exists(own)) {
      const auto text = ReadFile(own);
      if (text && !LoadAgents(*text, own).agents.empty()) {
        return Report("apply", kFailed, own + ": exists and holds something else than " + AgentTitle(given.agent.key()) + "; rename or remove it first");
      }
    }
  }
  if (const auto made = MakeDirs(paths.AgentsDir(), 0700); !made) return Report("apply", made.error());
  for (const auto& given : input->agents) {
    const auto it = definitions.find(given.agent.key());
    const bool known = it != definitions.end();
    const bool unchanged = known && it->second.agent && Same(*it->second.agent, given.agent);
    if (!unchanged) {
      if (const auto written = WriteFileAtomic(FileFor(paths, given.agent.key()), given.text, 0600); !written) return Report("apply", written.error());
    }
    const std::string title = AgentTitle(given.agent.key());
    PrintLine(globals.output == Output::kName ? title : title + (unchanged ? " unchanged" : known ? " configured" : " created"));
  }
  if (!SupervisorOf(paths) && WantsColour(2)) PrintWarning("apply", "beige is not up on this home, so nothing happens yet; start it with 'beige up'");
  return kDone;
}

}  // namespace beige::cli
