#ifndef BEIGE_GATEWAY_SESSIONS_MODEL_REQUEST_H_
#define BEIGE_GATEWAY_SESSIONS_MODEL_REQUEST_H_

#include <memory>
#include <string>

#include "gateway/calls/call.h"
#include "gateway/llm/running.h"
#include "gateway/sessions/services.h"

namespace beige::sessions {

// One audited request to an agent's models (kind llm): a begin record before anything is sent, an end record when the answer ended or
// this is destroyed (cancelled). The sink is as Llm::Ask's; it may destroy this.
class ModelRequest {
 public:
  // Denied by the agent's policy, or because it could not be recorded: nothing is sent then.
  static Result<std::unique_ptr<ModelRequest>> Start(Services& services, const Mind& mind, const std::string& actor, const std::string& session,
                                                     llm::Request request, llm::Sink sink);
  ~ModelRequest();
  llm::Usage unreported() const { return running_->unreported(); }  // see llm/running.h
  ModelRequest(const ModelRequest&) = delete;
  ModelRequest& operator=(const ModelRequest&) = delete;

 private:
  ModelRequest(Services& services, CallRequest record, std::string audit_id);
  void End(std::string_view outcome, std::string_view error);

  Services& services_;
  const CallRequest record_;
  const std::string audit_id_;
  const SteadyTime began_;
  bool ended_ = false;
  std::unique_ptr<llm::Llm::Running> running_;
};

}  // namespace beige::sessions

#endif
