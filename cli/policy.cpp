#include "cli/policy.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/gateway_address.h"
#include "cli/processes.h"
#include "cli/report.h"
#include "cli/rest.h"
#include "cli/table.h"

namespace beige::cli {
namespace {
using nlohmann::json;

// One segment of a URL's path; everything that is not plainly safe is escaped.
std::string Segment(const std::string& text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || (c == '.' && text.size() > 2);
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
    }
  }
  return out;
}

Result<HttpAnswer> Ask(const HomePaths& paths, const std::string& path) {
  const auto info = ReadGatewayInfo(paths);
  if (!info || !IsRunning(info->pid, kGatewayProcess)) {
    return Fail(Code::kUnavailable, "the gateway is not running on " + paths.home() + ", and only it knows what is in force; start it with 'beige up'");
  }
  const auto token = ReadFile(paths.ApiToken(), 4096);
  if (!token) return Fail(Code::kDenied, "the API's token: " + token.error().message + "; ask as the home's owner or as root");
  return Get(GatewayAddress(paths, info->http_port), path, token->substr(0, token->find('\n')), std::chrono::seconds(10));
}

std::string Word(const json& object, const char* key) { return object.value(key, ""); }

void PrintText(const json& answer, const PolicyExplainOptions& options) {
  Table table({"WHAT", "ANSWER"});
  std::string call = options.tool;
  for (const auto& arg : options.args) call += " " + arg;
  table.Add({"call", call + " by agent " + options.agent});
  table.Add({"decision", Word(answer, "decision")});
  table.Add({"rule", Word(answer, "rule") + (Word(answer, "reason").empty() ? "" : ": " + Word(answer, "reason"))});
  if (Word(answer, "kind") == "tool") {
    table.Add({"tool exists", answer.value("exists", false) ? "yes" : "no: gateway.yaml names no such tool"});
    table.Add({"granted", answer.value("granted", false) ? "yes" : "no: add it to spec.tools of the agent"});
    table.Add({"offered", answer.value("offered", false) ? "yes" : "no" + (Word(answer, "notOffered").empty() ? "" : ": " + Word(answer, "notOffered"))});
  }
  table.Add({"generation", std::to_string(answer.value("generation", int64_t{0}))});
  if (Word(answer, "decision") == "deny") table.Add({"exit status", std::to_string(answer.value("exitCode", 0))});
  Print(table.Render(false));
}
}  // namespace

int RunPolicyExplain(const Globals& globals, const PolicyExplainOptions& options) {
  const HomePaths paths = globals.paths();
  for (const std::string& name : {options.agent, options.tool}) {
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
      return Report("policy explain", kUsage, "\"" + name + "\": want the name of an agent and of a tool, which hold no slash");
    }
  }
  const auto answer = Ask(paths, "/v1/namespaces/" + Segment(globals.namespace_) + "/agents/" + Segment(options.agent) + "/policy/" + Segment(options.tool));
  if (!answer) return Report("policy explain", answer.error());
  const json body = json::parse(answer->body, nullptr, false);
  if (answer->status == 404) {
    return Report("policy explain", kNotFound, "agent " + globals.Key(options.agent).ToString() + ": the gateway has no grant for it; see 'beige describe agent " + options.agent + "'");
  }
  if (answer->status != 200 || !body.is_object()) {
    const std::string why = body.is_object() && body.contains("error") && body["error"].is_object() ? Word(body["error"], "message") : answer->body;
    return Report("policy explain", answer->status == 403 || answer->status == 401 ? kDenied : kFailed, "the gateway answers " + std::to_string(answer->status) + ": " + why);
  }
  if (globals.structured()) {
    PrintStructured(globals, nlohmann::ordered_json::parse(answer->body).dump(2));
  } else {
    PrintText(body, options);
  }
  return Word(body, "decision") == "allow" ? kDone : kDenied;
}

}  // namespace beige::cli
