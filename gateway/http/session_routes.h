#ifndef BEIGE_GATEWAY_HTTP_SESSION_ROUTES_H_
#define BEIGE_GATEWAY_HTTP_SESSION_ROUTES_H_

#include <functional>
#include <memory>
#include <string>

#include "gateway/http/route.h"
#include "gateway/http/session_streams.h"
#include "gateway/sessions/sessions.h"
#include "http/http_server.h"

namespace beige {

class Roster;

// The routes of docs/sessions.md. Handle() runs on the HTTP server's thread, after token and scope were checked, and decodes there;
// everything else is called on the core thread. Not to be destroyed while Handle may be called.
class SessionRoutes {
 public:
  SessionRoutes(Loop& loop, Roster& roster);
  ~SessionRoutes() { *alive_ = false; }

  void SetSessions(sessions::Sessions* sessions) { sessions_ = sessions; }  // nullptr: 503
  void Stop();  // ends streams; later requests get 503
  size_t open() const { return streams_ ? streams_->open() : 0; }

  // `actor`: the token's name. A route that is not of sessions is our own mistake: 404.
  void Handle(const RouteMatch& match, const http::Request& request, const std::string& actor, std::shared_ptr<http::Responder> responder);

 private:
  using Respond = std::shared_ptr<http::Responder>;
  // `act` runs on the core thread when the agent exists.
  void On(const AgentKey& agent, const Respond& responder, std::function<void(sessions::Sessions&, const AgentRef&)> act);
  void Prompt(const RouteMatch& match, const http::Request& request, const std::string& actor, const Respond& responder);
  void Create(const RouteMatch& match, const http::Request& request, const Respond& responder);
  void Show(const RouteMatch& match, const http::Request& request, const Respond& responder);
  void Events(const RouteMatch& match, const http::Request& request, const Respond& responder);
  void Abort(const RouteMatch& match, const http::Request& request, const Respond& responder);
  void Compact(const RouteMatch& match, const http::Request& request, const std::string& actor, const Respond& responder);
  void Model(const RouteMatch& match, const http::Request& request, const Respond& responder);

  Loop& loop_;
  Roster& roster_;
  sessions::Sessions* sessions_ = nullptr;
  std::unique_ptr<SessionStreams> streams_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace beige

#endif
