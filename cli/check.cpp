#include "cli/check.h"

#include <nlohmann/json.hpp>

#include "api/tokens.h"
#include "base/files.h"
#include "base/unix_socket.h"
#include "cli/home_agents.h"
#include "cli/report.h"

namespace beige::cli {
namespace {
void Append(std::vector<Problem>& to, const std::vector<Problem>& from) { to.insert(to.end(), from.begin(), from.end()); }

void CheckTool(const std::string& gateway_yaml, const std::string& name, const ToolConfig& tool, const EnvLookup& env, HomeCheck& check) {
  const std::string path = "tools." + name + ".path";
  const std::string file = JoinPath(tool.path, "tool.yaml");
  const auto text = ReadFileIfExists(file);
  if (!text || !*text) {
    check.problems.push_back({gateway_yaml, 0, 0, path, "want a folder with tool.yaml, got " + tool.path + " which has none", "InvalidSpec"});
    return;
  }
  ++check.files;
  const auto manifest = LoadToolManifest(**text, file, env);
  Append(check.problems, manifest.problems);
  if (manifest.value && manifest.value->name != name) {
    check.problems.push_back({file, 0, 0, "name", "want \"" + name + "\" as gateway.yaml calls it, got \"" + manifest.value->name + "\"", "InvalidSpec"});
  }
}

std::optional<GatewayConfig> CheckGateway(const HomePaths& paths, const EnvLookup& env, HomeCheck& check) {
  const auto text = ReadFileIfExists(paths.GatewayYaml());
  if (!text) check.problems.push_back({paths.GatewayYaml(), 0, 0, "", text.error().message, "InvalidSpec"});
  if (!text || !*text) return std::nullopt;
  ++check.files;
  auto loaded = LoadGatewayConfig(**text, paths.GatewayYaml(), env);
  Append(check.problems, loaded.problems);
  if (!loaded.value) return std::nullopt;
  for (const auto& [name, tool] : loaded.value->tools) CheckTool(paths.GatewayYaml(), name, tool, env, check);
  for (const auto& [name, skill] : loaded.value->skills) {
    if (!Exists(JoinPath(skill.path, "SKILL.md"))) {
      check.problems.push_back({paths.GatewayYaml(), 0, 0, "skills." + name + ".path", "want a folder with SKILL.md, got " + skill.path + " which has none", "InvalidSpec"});
    }
  }
  // The default token is made by the gateway's first start.
  if (!loaded.value->tokens.empty()) static_cast<void>(LoadTokens(*loaded.value, paths, check.problems));
  return loaded.value;
}

void CheckOperator(const HomePaths& paths, const EnvLookup& env, HomeCheck& check) {
  const auto text = ReadFileIfExists(paths.OperatorYaml());
  if (!text) check.problems.push_back({paths.OperatorYaml(), 0, 0, "", text.error().message, "InvalidSpec"});
  if (!text || !*text) return;
  ++check.files;
  Append(check.problems, LoadOperatorConfig(**text, paths.OperatorYaml(), env).problems);
}

// An Agent may name a tool before gateway.yaml does, so this is no error; PolicyInForce says the same.
void WarnOfUnknownNames(const Definition& definition, const GatewayConfig& gateway, std::vector<std::string>& warnings) {
  const Agent& agent = *definition.agent;
  for (const auto& tool : agent.spec.tools) {
    if (!gateway.tools.contains(tool.name)) {
      warnings.push_back(definition.file + ": agent " + agent.key().ToString() + " names tool " + tool.name + ", which gateway.yaml doesn't have");
    }
  }
  for (const auto& skill : agent.spec.skills) {
    if (!gateway.skills.contains(skill.name)) {
      warnings.push_back(definition.file + ": agent " + agent.key().ToString() + " names skill " + skill.name + ", which gateway.yaml doesn't have");
    }
  }
}
}  // namespace

HomeCheck CheckHome(const HomePaths& paths, const EnvLookup& env) {
  HomeCheck check;
  if (const auto fits = CheckSocketPath(paths.GatewaySocket("any") + "~"); !fits) {
    check.problems.push_back({paths.home(), 0, 0, "", fits.error().message, "InvalidSpec"});
  }
  CheckOperator(paths, env, check);
  const auto gateway = CheckGateway(paths, env, check);
  check.files += AgentFiles(paths).size();
  for (const auto& [key, definition] : ReadDefinitions(paths, &check.problems)) {
    Append(check.problems, definition.problems);
    if (definition.agent && gateway) WarnOfUnknownNames(definition, *gateway, check.warnings);
  }
  return check;
}

EnvLookup AnyEnv() {
  return [env = ProcessEnv()](const std::string& name) { return std::optional<std::string>(env(name).value_or("unset")); };
}

int RunConfigCheck(const Globals& globals) {
  const HomePaths paths = globals.paths();
  if (!Exists(paths.home())) {
    return Report("config check", kNotFound, "home " + paths.home() + ": no such directory; make one with 'beige init' or choose another with --home");
  }
  const HomeCheck check = CheckHome(paths, ProcessEnv());
  const int status = check.problems.empty() ? kDone : kUsage;
  if (globals.structured()) {
    nlohmann::ordered_json out{{"valid", check.problems.empty()}, {"files", check.files}, {"problems", nlohmann::ordered_json::array()}, {"warnings", check.warnings}};
    for (const auto& p : check.problems) {
      out["problems"].push_back({{"file", p.file}, {"line", p.line}, {"column", p.column}, {"path", p.path}, {"message", p.message}, {"reason", p.reason}});
    }
    PrintStructured(globals, out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return status;
  }
  for (const auto& warning : check.warnings) PrintWarning("config check", warning);
  for (const auto& problem : check.problems) PrintError("config check", problem.ToString());
  if (check.problems.empty()) PrintLine(paths.home() + ": " + std::to_string(check.files) + (check.files == 1 ? " file is" : " files are") + " valid");
  return status;
}

}  // namespace beige::cli
