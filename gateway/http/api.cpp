#include "gateway/http/api.h"

#include "gateway/audit/audit_log.h"
#include "gateway/http/agents_json.h"
#include "gateway/http/exec_reply.h"
#include "gateway/http/models_json.h"
#include "gateway/http/openapi.h"
#include "gateway/http/reply.h"
#include "gateway/roster/roster.h"

namespace beige {
namespace {
enum class Route { kNone, kAgents, kNamespaceAgents, kAgent, kExec, kTools, kSkills, kModels, kOpenApi };

struct Match {
  Route route = Route::kNone;
  AgentKey agent;  // namespace for kNamespaceAgents; both for kAgent and kExec
};

Result<Match> MatchPath(std::string_view path) {
  std::vector<std::string> parts;
  for (const std::string_view raw : http::SplitPath(path)) {
    BEIGE_ASSIGN(std::string part, http::DecodeSegment(raw));
    parts.push_back(std::move(part));
  }
  const size_t n = parts.size();
  if (n < 2 || parts[0] != "v1") return Match{};
  if (n == 2) {
    if (parts[1] == "agents") return Match{Route::kAgents, {}};
    if (parts[1] == "tools") return Match{Route::kTools, {}};
    if (parts[1] == "skills") return Match{Route::kSkills, {}};
    if (parts[1] == "models") return Match{Route::kModels, {}};
    if (parts[1] == "openapi.json") return Match{Route::kOpenApi, {}};
    return Match{};
  }
  if (parts[1] != "namespaces" || n < 4 || parts[3] != "agents" || parts[2].empty()) return Match{};
  if (n == 4) return Match{Route::kNamespaceAgents, {parts[2], ""}};
  if (parts[4].empty()) return Match{};
  if (n == 5) return Match{Route::kAgent, {parts[2], parts[4]}};
  if (n == 6 && parts[5] == "exec") return Match{Route::kExec, {parts[2], parts[4]}};
  return Match{};
}

http::Response WithHeader(http::Response response, std::string name, std::string value) {
  response.headers.emplace_back(std::move(name), std::move(value));
  return response;
}

http::Response NoAgent(const AgentKey& agent) {
  return JsonError(404, "NotFound", "no agent " + agent.name + " in namespace " + agent.namespace_);
}

bool IsJson(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  std::string lower;
  for (const char c : type) {
    if (c != ' ') lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return lower == "application/json";
}
}  // namespace

Api::Api(Loop& loop, Roster& roster, CallService& calls, AuditLog& audit, const Clock& clock, Listen listen)
    : loop_(loop), roster_(roster), calls_(calls), auth_(std::move(listen)), notes_(audit, clock), execs_(std::make_unique<ExecCalls>(loop, calls)) {}

void Api::SetConfig(const ConfigSet& set) {
  config_ = set.config;
  tools_ = set.tools;
  auth_.SetTokens(set.tokens);
}

void Api::CancelAll() {
  ready_ = false;
  execs_.reset();
}

void Api::Handle(http::Request request, Respond responder) {
  const bool get = request.method == "GET" || request.method == "HEAD";
  if (request.path == "/healthz" || request.path == "/readyz") {
    if (get) return Health(responder, request.path == "/readyz");
    return responder->Reply(WithHeader(JsonError(405, "MethodNotAllowed", "want GET"), "Allow", "GET, HEAD"));
  }
  if (const auto site = auth_.CheckSite(request); !site) return Refuse(request, responder, JsonError(site.error()), "unknown");
  const auto token = auth_.Find(request.Header("authorization"));
  if (!token) {
    http::Response response = JsonError(401, "Unauthenticated", "want Authorization: Bearer with a valid token; the default one is in api-token of the home");
    return Refuse(request, responder, WithHeader(std::move(response), "WWW-Authenticate", "Bearer realm=\"beige\""), "unknown");
  }
  const auto match = MatchPath(request.path);
  if (!match) return responder->Reply(JsonError(match.error(), "path"));
  if (match->route == Route::kNone) return responder->Reply(JsonError(404, "NotFound", "no such route: " + request.path.substr(0, 200) + "; see /v1/openapi.json"));
  const bool exec = match->route == Route::kExec;
  if (exec ? request.method != "POST" : !get) {
    const std::string want = exec ? "POST" : "GET, HEAD";
    return responder->Reply(WithHeader(JsonError(405, "MethodNotAllowed", "this route takes " + want + ", got " + request.method), "Allow", want));
  }
  const char* scope = exec ? "exec" : "read";
  if (!token->Has(scope)) {
    return Refuse(request, responder, JsonError(403, "Denied", "token " + token->name + " does not have scope " + scope), token->name);
  }
  switch (match->route) {
    case Route::kExec: return Exec(std::move(request), match->agent, token->name, responder);
    case Route::kOpenApi: return responder->Reply(JsonReply(std::string(OpenApiDocument())));
    case Route::kTools: return Read(responder, [this] { return JsonReply(ToolListJson(tools_)); });
    case Route::kSkills: return Read(responder, [this] { return JsonReply(SkillListJson(*config_)); });
    case Route::kModels: return Read(responder, [this] { return JsonReply(ModelListJson(models_())); });
    case Route::kAgents: return Read(responder, [this] { return JsonReply(AgentListJson(roster_.List())); });
    case Route::kNamespaceAgents:
      return Read(responder, [this, ns = match->agent.namespace_] {
        auto views = roster_.List();
        std::erase_if(views, [&](const AgentView& view) { return view.grant.agent.namespace_ != ns; });
        return JsonReply(AgentListJson(views));
      });
    case Route::kAgent:
      return Read(responder, [this, agent = match->agent] {
        const auto view = roster_.Find(agent);
        return view ? JsonReply(AgentJson(*view)) : NoAgent(agent);
      });
    case Route::kNone: return;
  }
}

// Through the core: a core that hangs is not healthy.
void Api::Health(const Respond& responder, bool readiness) {
  Read(responder, [this, readiness] {
    if (readiness && !ready_) return JsonError(503, "Unavailable", "starting or stopping");
    return JsonReply(R"({"status":"ok"})");
  });
}

void Api::Read(const Respond& responder, std::function<http::Response()> read) {
  loop_.Post([responder, read = std::move(read), alive = alive_] {
    if (*alive) responder->Reply(read());
  });
}

void Api::Refuse(const http::Request& request, const Respond& responder, http::Response response, const std::string& actor) {
  const std::string what = std::to_string(response.status) + " " + request.method.substr(0, 20) + " " + request.path.substr(0, 200) + " from " + request.remote;
  responder->Reply(std::move(response));
  loop_.Post([this, actor, what, alive = alive_] {
    if (*alive) notes_.Add(actor, what);
  });
}

void Api::Exec(http::Request request, AgentKey agent, std::string actor, const Respond& responder) {
  if (!IsJson(request.Header("content-type"))) {
    return responder->Reply(JsonError(415, "Invalid", "want Content-Type: application/json, got \"" + std::string(request.Header("content-type").substr(0, 100)) + "\"", "Content-Type"));
  }
  auto body = DecodeExecBody(request.body);
  if (!body) return responder->Reply(JsonError(400, "Invalid", body.error().message, body.error().field));
  body->call.actor = std::move(actor);
  auto shared = std::make_shared<ExecBody>(std::move(*body));
  loop_.Post([this, agent = std::move(agent), shared, responder, alive = alive_] {
    if (!*alive) return;
    if (!execs_) return responder->Reply(JsonError(503, "Unavailable", "the gateway is stopping"));
    const auto view = roster_.Find(agent);
    if (!view) return responder->Reply(NoAgent(agent));
    shared->call.agent = view->grant.agent;
    execs_->Start(std::move(*shared), responder);
  });
}

}  // namespace beige
