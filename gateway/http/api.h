#ifndef BEIGE_GATEWAY_HTTP_API_H_
#define BEIGE_GATEWAY_HTTP_API_H_

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/loop.h"
#include "gateway/calls/call.h"
#include "gateway/config/config_set.h"
#include "gateway/http/auth.h"
#include "gateway/http/auth_notes.h"
#include "gateway/http/exec_calls.h"
#include "gateway/http/session_routes.h"
#include "gateway/llm/llm.h"
#include "http/http_server.h"

namespace beige {

class AuditLog;
class Roster;

// The HTTP API's routes. Handle() runs on the HTTP server's thread and does there what needs no state of the core: site and token
// checks, routing, decoding. What is left is posted to the core's loop. Everything else is called on the core thread.
// The server that calls Handle must be stopped before this goes.
class Api {
 public:
  Api(Loop& loop, Roster& roster, CallService& calls, AuditLog& audit, const Clock& clock, Listen listen);

  void SetConfig(const ConfigSet& set);
  void SetModels(std::function<std::vector<llm::ModelState>()> models) { models_ = std::move(models); }  // asked on the core thread
  void SetSessions(sessions::Sessions* sessions) { sessions_.SetSessions(sessions); }  // must live until CancelAll(); absent: 503
  void SetReady(bool ready) { ready_ = ready; }
  void CancelAll();  // at stop: running commands are answered with 503, streams of sessions end, later requests get 503
  size_t running() const { return execs_ ? execs_->running() : 0; }
  size_t streams() const { return sessions_.open(); }

  // For the server that calls Handle: prompts may bring images, from who may prompt at all.
  http::Limits limits() const;
  static constexpr size_t kMaxPromptBody = 8u << 20;

  void Handle(http::Request request, std::shared_ptr<http::Responder> responder);

 private:
  using Respond = std::shared_ptr<http::Responder>;
  void Health(const Respond& responder, bool readiness);
  void Refuse(const http::Request& request, const Respond& responder, http::Response response, const std::string& actor);
  void Exec(http::Request request, AgentKey agent, std::string actor, const Respond& responder);
  // `read` runs on the core thread.
  void Read(const Respond& responder, std::function<http::Response()> read);

  Loop& loop_;
  Roster& roster_;
  CallService& calls_;
  Auth auth_;
  AuthNotes notes_;
  std::unique_ptr<ExecCalls> execs_;
  SessionRoutes sessions_;
  std::shared_ptr<const GatewayConfig> config_;
  std::vector<std::shared_ptr<const ToolManifest>> tools_;
  std::function<std::vector<llm::ModelState>()> models_ = [] { return std::vector<llm::ModelState>(); };
  bool ready_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

 public:
  ~Api() { *alive_ = false; }
};

}  // namespace beige

#endif
