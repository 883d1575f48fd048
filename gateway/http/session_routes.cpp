#include "gateway/http/session_routes.h"

#include "gateway/http/query.h"
#include "gateway/http/reply.h"
#include "gateway/http/session_json.h"
#include "gateway/roster/roster.h"

namespace beige {
namespace {
using Respond = std::shared_ptr<http::Responder>;
constexpr size_t kMostMessages = 1'000'000;

void Refuse(const Respond& responder, const BodyError& error) { responder->Reply(JsonError(400, "Invalid", error.message, error.field)); }

// A body that may be left out needs no content type when it is.
bool TakesBody(const http::Request& request, const Respond& responder, bool required) {
  if (request.body.empty() && !required) return true;
  const auto refusal = WantJson(request);
  if (refusal) responder->Reply(*refusal);
  return !refusal;
}

sessions::Done<> NoContent(const Respond& responder) {
  return [responder](const Result<>& done) {
    http::Response response;
    response.status = 204;
    response.content_type.clear();
    responder->Reply(done ? std::move(response) : SessionError(done.error()));
  };
}

sessions::Done<sessions::Summary> WithSummary(const Respond& responder, int status) {
  return [responder, status](const Result<sessions::Summary>& summary) {
    http::Response response = summary ? JsonReply(SummaryJson(*summary)) : SessionError(summary.error());
    if (summary) response.status = status;
    responder->Reply(std::move(response));
  };
}

// "TURN-N", both numbers.
bool IsEventId(std::string_view id) {
  const size_t dash = id.find('-');
  const auto number = [](std::string_view text) { return !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string_view::npos; };
  return dash != std::string_view::npos && number(id.substr(0, dash)) && number(id.substr(dash + 1));
}
}  // namespace

SessionRoutes::SessionRoutes(Loop& loop, Roster& roster) : loop_(loop), roster_(roster), streams_(std::make_unique<SessionStreams>(loop)) {}

void SessionRoutes::Stop() { streams_.reset(); }

void SessionRoutes::Handle(const RouteMatch& match, const http::Request& request, const std::string& actor, Respond responder) {
  switch (match.route) {
    case Route::kPrompt:
    case Route::kBeigePrompt: return Prompt(match, request, actor, responder);
    case Route::kNewSession: return Create(match, request, responder);
    case Route::kSession: return Show(match, request, responder);
    case Route::kSessionEvents: return Events(match, request, responder);
    case Route::kAbort: return Abort(match, request, responder);
    case Route::kCompact: return Compact(match, request, actor, responder);
    case Route::kSessionModel: return Model(match, request, responder);
    case Route::kSessions:
      return On(match.agent, responder, [responder](sessions::Sessions& sessions, const AgentRef& agent) {
        sessions.List(agent, [responder](const Result<std::vector<sessions::Summary>>& list) {
          responder->Reply(list ? JsonReply(SummaryListJson(*list)) : SessionError(list.error()));
        });
      });
    case Route::kDeleteSession:
      return On(match.agent, responder, [responder, id = match.item](sessions::Sessions& sessions, const AgentRef& agent) {
        sessions.Delete(agent, id, NoContent(responder));
      });
    default: return responder->Reply(JsonError(404, "NotFound", "no such route"));
  }
}

void SessionRoutes::On(const AgentKey& agent, const Respond& responder, std::function<void(sessions::Sessions&, const AgentRef&)> act) {
  loop_.Post([this, agent, responder, act = std::move(act), alive = alive_] {
    if (!*alive) return;
    if (sessions_ == nullptr || !streams_) return responder->Reply(JsonError(503, "Unavailable", "the gateway is starting or stopping"));
    const auto view = roster_.Find(agent);
    if (!view) return responder->Reply(NoAgent(agent));
    act(*sessions_, view->grant.agent);
  });
}

void SessionRoutes::Prompt(const RouteMatch& match, const http::Request& request, const std::string& actor, const Respond& responder) {
  if (!TakesBody(request, responder, true)) return;
  auto body = match.route == Route::kBeigePrompt ? DecodeBeigePrompt(request.body, match.agent.name) : DecodePromptBody(request.body);
  if (!body) return Refuse(responder, body.error());
  body->prompt.actor = actor;
  On(match.agent, responder, [this, responder, shared = std::make_shared<PromptBody>(std::move(*body))](sessions::Sessions& sessions, const AgentRef& agent) {
    shared->prompt.agent = agent;
    streams_->Prompt(sessions, std::move(*shared), responder);
  });
}

void SessionRoutes::Create(const RouteMatch& match, const http::Request& request, const Respond& responder) {
  if (!TakesBody(request, responder, false)) return;
  const auto body = DecodeNewSessionBody(request.body);
  if (!body) return Refuse(responder, body.error());
  On(match.agent, responder, [responder, choice = *body](sessions::Sessions& sessions, const AgentRef& agent) {
    sessions.Create(agent, choice.model, choice.thinking, WithSummary(responder, 201));
  });
}

void SessionRoutes::Show(const RouteMatch& match, const http::Request& request, const Respond& responder) {
  const auto query = DecodeQuery(request.query, {"limit"});
  if (!query) return Refuse(responder, query.error());
  const auto limit = NumberOf(*query, "limit", kMostMessages);
  if (!limit) return Refuse(responder, limit.error());
  On(match.agent, responder, [responder, id = match.item, n = *limit](sessions::Sessions& sessions, const AgentRef& agent) {
    sessions.Show(agent, id, n, [responder](Result<std::string> json) { responder->Reply(json ? JsonReply(std::move(*json)) : SessionError(json.error())); });
  });
}

// A browser's EventSource comes back with the query that it had and the header that it has learned since: the header counts.
void SessionRoutes::Events(const RouteMatch& match, const http::Request& request, const Respond& responder) {
  const auto query = DecodeQuery(request.query, {"after"});
  if (!query) return Refuse(responder, query.error());
  const std::string_view header = request.Header("last-event-id");
  const auto given = query->find("after");
  const std::string after = !header.empty() ? std::string(header) : given != query->end() ? given->second : "";
  if ((!header.empty() || given != query->end()) && !IsEventId(after)) {
    const char* name = header.empty() ? "after" : "Last-Event-ID";
    return Refuse(responder, BadField(name, "want an event's id such as 3-17, or 0-0 for all that is known, got \"" + after.substr(0, 100) + "\"").value());
  }
  On(match.agent, responder, [this, responder, id = match.item, after](sessions::Sessions& sessions, const AgentRef& agent) {
    streams_->Follow(sessions, agent, id, after, responder);
  });
}

void SessionRoutes::Abort(const RouteMatch& match, const http::Request& request, const Respond& responder) {
  if (!TakesBody(request, responder, false)) return;
  const auto prompt = DecodeAbortBody(request.body);
  if (!prompt) return Refuse(responder, prompt.error());
  On(match.agent, responder, [responder, id = match.item, which = *prompt](sessions::Sessions& sessions, const AgentRef& agent) {
    sessions.Abort(agent, id, which, NoContent(responder));
  });
}

// Who leaves wants no summary any more.
void SessionRoutes::Compact(const RouteMatch& match, const http::Request& request, const std::string& actor, const Respond& responder) {
  if (!TakesBody(request, responder, false)) return;
  if (const auto body = DecodeEmptyBody(request.body); !body) return Refuse(responder, body.error());
  On(match.agent, responder, [this, responder, actor, id = match.item](sessions::Sessions& sessions, const AgentRef& agent) {
    responder->OnGone([this, agent, id, alive = alive_, &loop = loop_] {
      loop.Post([this, agent, id, alive] {
        if (*alive && sessions_ != nullptr) sessions_->StopCompaction(agent, id);
      });
    });
    sessions.Compact(agent, id, actor, NoContent(responder));
  });
}

void SessionRoutes::Model(const RouteMatch& match, const http::Request& request, const Respond& responder) {
  if (!TakesBody(request, responder, true)) return;
  const auto body = DecodeModelBody(request.body);
  if (!body) return Refuse(responder, body.error());
  On(match.agent, responder, [responder, id = match.item, choice = *body](sessions::Sessions& sessions, const AgentRef& agent) {
    sessions.SetModel(agent, id, *choice.model, choice.thinking, WithSummary(responder, 200));
  });
}

}  // namespace beige
