#include "gateway/sessions/model_request.h"

#include <utility>

#include "gateway/audit/audit_log.h"
#include "gateway/policy/policy.h"

namespace beige::sessions {

namespace {
// Of every model that may come to answer; the first that is refused decides.
Decision Judge(const Services& services, const CallRequest& record) {
  const auto standing = services.roster.StandingOf(record.agent.uid);
  if (!standing) return {false, "agent", "there is no such agent here", 126};
  Decision decision;
  for (const std::string& model : record.args) {
    decision = standing->policy->Decide(record.kind, record.surface, model);
    if (!decision.allow) break;
  }
  return decision;
}
}  // namespace

ModelRequest::ModelRequest(Services& services, CallRequest record, std::string audit_id)
    : services_(services), record_(std::move(record)), audit_id_(std::move(audit_id)), began_(services.clock.Now()) {}

Result<std::unique_ptr<ModelRequest>> ModelRequest::Start(Services& services, const Mind& mind, const std::string& actor, const std::string& session,
                                                          llm::Request request, llm::Sink sink) {
  CallRequest record;
  record.agent = mind.agent.grant.agent;
  record.surface = Surface::kLlm;
  record.actor = actor;
  record.kind = CallKind::kLlm;
  record.tool = mind.choices.front().model.ToString();
  for (const llm::Choice& choice : mind.choices) record.args.push_back(choice.model.ToString());
  record.session_claim = session;
  const Decision decision = Judge(services, record);
  auto begun = services.audit.Begin({&record, decision.allow, decision.rule, decision.reason, mind.agent.grant.generation});
  if (!decision.allow) return Fail(Code::kDenied, "the model was not asked: " + std::string(decision.reason));
  if (!begun) return Fail(Code::kDenied, "the model was not asked: " + begun.error().message);
  std::unique_ptr<ModelRequest> asked(new ModelRequest(services, std::move(record), std::move(*begun)));
  asked->running_ = services.models.Ask(mind.agent.grant.agent.key(), mind.choices, std::move(request),
                                        [asked = asked.get(), sink = std::move(sink)](const llm::Event& event) {
                                          if (std::holds_alternative<llm::Stopped>(event)) asked->End("ok", "");
                                          if (const auto* failed = std::get_if<llm::Failed>(&event)) asked->End("error", failed->failure.message);
                                          sink(event);
                                        });
  return asked;
}

ModelRequest::~ModelRequest() {
  if (!ended_) End("cancelled", "");
}

void ModelRequest::End(std::string_view outcome, std::string_view error) {
  ended_ = true;
  EndRecord record;
  record.request = &record_;
  record.outcome = outcome;
  record.duration_us = std::chrono::duration_cast<std::chrono::microseconds>(services_.clock.Now() - began_).count();
  record.exit_code = outcome == "ok" ? 0 : 1;
  record.error = error;
  services_.audit.End(audit_id_, record);
}

}  // namespace beige::sessions
