#include "gateway/http/api.h"

#include "gateway/audit/audit_log.h"
#include "gateway/http/agents_json.h"
#include "gateway/http/exec_reply.h"
#include "gateway/http/models_json.h"
#include "gateway/http/openapi.h"
#include "gateway/http/policy_json.h"
#include "gateway/http/reply.h"
#include "gateway/http/route.h"
#include "gateway/roster/roster.h"

namespace beige {
namespace {
http::Response WithHeader(http::Response response, std::string name, std::string value) {
  response.headers.emplace_back(std::move(name), std::move(value));
  return response;
}

}  // namespace

Api::Api(Loop& loop, Roster& roster, CallService& calls, AuditLog& audit, const Clock& clock, Listen listen)
    : loop_(loop), roster_(roster), calls_(calls), auth_(std::move(listen)), notes_(audit, clock), execs_(std::make_unique<ExecCalls>(loop, calls)), sessions_(loop, roster) {}

void Api::SetConfig(const ConfigSet& set) {
  config_ = set.config;
  tools_ = set.tools;
  auth_.SetTokens(set.tokens);
}

void Api::CancelAll() {
  ready_ = false;
  execs_.reset();
  sessions_.Stop();
}

http::Limits Api::limits() const {
  http::Limits limits;
  limits.body_limit = [this, usual = limits.body_bytes](const http::Request& head) {
    if (head.method != "POST" || !head.path.ends_with("/prompt")) return usual;
    const auto token = auth_.Find(head.Header("authorization"));
    return token && token->Has("prompt") ? kMaxPromptBody : usual;
  };
  return limits;
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
  const auto match = MatchRoute(request.method, request.path);
  if (!match) return responder->Reply(JsonError(match.error(), "path"));
  if (match->route == Route::kNone && !match->allow.empty()) {
    return responder->Reply(WithHeader(JsonError(405, "MethodNotAllowed", "this route takes " + match->allow + ", got " + request.method), "Allow", match->allow));
  }
  if (match->route == Route::kNone) return responder->Reply(JsonError(404, "NotFound", "no such route: " + request.path.substr(0, 200) + "; see /v1/openapi.json"));
  if (!token->Has(match->scope)) {
    return Refuse(request, responder, JsonError(403, "Denied", "token " + token->name + " does not have scope " + match->scope), token->name);
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
    case Route::kPolicy:
      return Read(responder, [this, agent = match->agent, tool = match->item] {
        const auto view = roster_.Find(agent);
        const auto standing = view ? roster_.StandingOf(view->grant.agent.uid) : std::nullopt;
        return standing ? JsonReply(PolicyJson(*view, *standing, tool)) : NoAgent(agent);
      });
    default: return sessions_.Handle(*match, request, token->name, responder);
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
  if (const auto refusal = WantJson(request)) return responder->Reply(*refusal);
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
