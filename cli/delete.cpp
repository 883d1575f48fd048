#include "base/files.h"
#include "cli/agent_input.h"
#include "cli/apply.h"
#include "cli/documents.h"
#include "cli/home_agents.h"
#include "cli/report.h"

namespace beige::cli {
namespace {
// The file without the document of `key`. Other documents stay as they are, comments included.
Result<std::string> Without(const std::string& file, const AgentKey& key) {
  BEIGE_ASSIGN(const std::string text, ReadFile(file));
  std::string rest;
  bool found = false;
  for (const auto& document : SplitDocuments(text)) {
    const LoadedFile loaded = LoadAgents(document, file);
    if (!found && loaded.agents.size() == 1 && loaded.agents[0].key == key) {
      found = true;
      continue;
    }
    if (!rest.empty()) rest += "---\n";
    rest += document;
  }
  if (!found) return Fail(Code::kConflict, file + ": the document of agent " + key.ToString() + " can't be told from the others; take it out by hand");
  return rest;
}

Result<> Delete(const AgentKey& key, const Definition& definition) {
  if (definition.documents == 1) return RemoveFile(definition.file);
  BEIGE_ASSIGN(const std::string rest, Without(definition.file, key));
  return WriteFileAtomic(definition.file, rest, 0600);
}
}  // namespace

int RunDelete(const Globals& globals, const DeleteOptions& options) {
  const HomePaths paths = globals.paths();
  std::vector<AgentKey> keys;
  for (const auto& name : options.names) keys.push_back(globals.Key(name));
  if (!options.files.empty()) {
    const auto input = ReadInput(globals, options.files);
    if (!input) return Report("delete", input.error());
    for (const auto& problem : input->problems) PrintError("delete", problem.ToString());
    if (!input->problems.empty()) return kUsage;
    for (const auto& agent : input->agents) keys.push_back(agent.agent.key());
  }
  int status = kDone;
  for (const auto& key : keys) {
    // Read anew each time: two documents of one file may go.
    const auto definitions = ReadDefinitions(paths);
    const auto it = definitions.find(key);
    if (it == definitions.end()) {
      if (options.ignore_not_found) continue;
      const bool removing = Exists(paths.StatusFile(key));
      status = Report("delete", kNotFound, AgentTitle(key) + ": " + (removing ? "no file defines it any more; the operator removes it while 'beige up' runs"
                                                                              : "no such agent in " + paths.AgentsDir() + "; 'beige get agents -A' lists them"));
      continue;
    }
    if (const auto deleted = Delete(key, it->second); !deleted) {
      status = Report("delete", deleted.error());
      continue;
    }
    PrintLine(globals.output == Output::kName ? AgentTitle(key) : AgentTitle(key) + " deleted");
  }
  return status;
}

}  // namespace beige::cli
