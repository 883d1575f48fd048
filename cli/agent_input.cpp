#include "cli/agent_input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "base/files.h"
#include "cli/documents.h"

namespace beige::cli {
namespace {
constexpr size_t kStdinLimit = 16u << 20;

Result<std::string> ReadStdin() {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "read stdin");
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
    if (text.size() > kStdinLimit) return Fail(Code::kInvalid, "stdin: larger than the limit of 16 MiB");
  }
}

bool IsDirectory(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

Result<std::vector<std::string>> Expand(const std::string& path) {
  if (path == "-" || !IsDirectory(path)) return std::vector<std::string>{path};
  BEIGE_ASSIGN(const auto names, ListDir(path));
  std::vector<std::string> files;
  for (const auto& name : names) {
    if (!name.starts_with(".") && (name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json"))) files.push_back(JoinPath(path, name));
  }
  if (files.empty()) return Fail(Code::kInvalid, path + ": has no .yaml, .yml or .json file; name a file or another directory");
  return files;
}

std::string WithoutRuntimeFields(Agent agent) {
  agent.status = {};
  agent.local.reset();
  agent.metadata.uid.clear();
  agent.metadata.generation = 0;
  agent.metadata.creation_time.clear();
  return JsonToYaml(EncodeAgent(agent));
}

void AddDocuments(const Globals& globals, const std::string& text, const std::string& source, Input& input) {
  LoadedFile loaded = LoadAgents(text, source);
  input.problems.insert(input.problems.end(), loaded.problems.begin(), loaded.problems.end());
  if (loaded.problems.empty() && loaded.agents.empty()) {
    input.problems.push_back({source, 0, 0, "", "want at least one Agent, got an empty file", "InvalidSpec"});
  }
  const auto documents = SplitDocuments(text);
  const bool verbatim = documents.size() == loaded.agents.size();
  for (size_t i = 0; i < loaded.agents.size(); ++i) {
    LoadedAgent& document = loaded.agents[i];
    input.problems.insert(input.problems.end(), document.problems.begin(), document.problems.end());
    if (!document.agent) continue;
    InputAgent agent{std::move(*document.agent), verbatim ? documents[i] : "", source};
    if (globals.namespace_given && agent.agent.metadata.namespace_ != globals.namespace_) {
      if (agent.agent.metadata.namespace_ != "default") {
        input.problems.push_back({source, 0, 0, "metadata.namespace",
                                  "want \"" + globals.namespace_ + "\" as -n says, got \"" + agent.agent.metadata.namespace_ + "\"", "InvalidSpec"});
      }
      agent.agent.metadata.namespace_ = globals.namespace_;
      agent.text.clear();
    }
    if (agent.text.empty()) agent.text = WithoutRuntimeFields(agent.agent);
    input.agents.push_back(std::move(agent));
  }
}
}  // namespace

Result<Input> ReadInput(const Globals& globals, const std::vector<std::string>& paths) {
  Input input;
  for (const auto& path : paths) {
    BEIGE_ASSIGN(const auto files, Expand(path));
    for (const auto& file : files) {
      auto text = file == "-" ? ReadStdin() : ReadFile(file);
      if (!text) return tl::make_unexpected(text.error());
      AddDocuments(globals, *text, file == "-" ? "stdin" : file, input);
    }
  }
  std::set<AgentKey> seen;
  for (const auto& agent : input.agents) {
    if (!seen.insert(agent.agent.key()).second) {
      input.problems.push_back({agent.source, 0, 0, "metadata.name", "agent " + agent.agent.key().ToString() + " is given twice", "InvalidSpec"});
    }
  }
  return input;
}

}  // namespace beige::cli
