#include "tests/gateway/outer/driven_sessions.h"

namespace beige {
namespace testing {
DrivenSessions* DrivenSessions::current = nullptr;

void DrivenSessions::Tell(sessions::Event event) {
  const auto all = watchers;
  for (const auto& [id, watcher] : all) {
    if (watchers.count(id) > 0) watcher->OnEvent(event);
  }
}
}  // namespace testing

namespace sessions {
struct Sessions::Impl {
  testing::DrivenSessions driven;
  template <typename T>
  void Answer(std::string call, const Done<T>& done, T value) {
    driven.calls.push_back(std::move(call));
    if (driven.refuse) return done(tl::make_unexpected(*driven.refuse));
    done(std::move(value));
  }
  void Answer(std::string call, const Done<>& done) {
    driven.calls.push_back(std::move(call));
    if (driven.refuse) return done(tl::make_unexpected(*driven.refuse));
    done({});
  }
};

namespace {
Summary Some() { return {"s1", "Title", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "p/m", "high", "idle", 0, 3, {10, 20, 3, 4, 0, 0.25}}; }
std::string Named(const std::optional<std::string>& model, const std::optional<llm::ThinkingLevel>& thinking) {
  return (model ? " " + *model : "") + (thinking ? " " + std::string(llm::ThinkingLevelName(*thinking)) : "");
}
}  // namespace

Sessions::Sessions(Loop&, const Clock&, const HomePaths&, Roster&, CallService&, AuditLog&, GatewayMetrics&, llm::Llm&) : impl_(std::make_unique<Impl>()) {
  testing::DrivenSessions::current = &impl_->driven;
}
Sessions::~Sessions() { testing::DrivenSessions::current = nullptr; }
void Sessions::SetConfig(std::shared_ptr<const GatewayConfig>, std::vector<std::shared_ptr<const ToolManifest>>) {}
void Sessions::Submit(Prompt prompt, Done<Accepted> done) {
  impl_->driven.submitted.push_back(std::move(prompt));
  impl_->driven.accept.push_back(std::move(done));
}
void Sessions::Abort(const AgentRef&, const std::string&, const std::string& prompt, Done<> done) {
  impl_->driven.aborted.push_back(prompt);
  impl_->driven.Tell({"9-9", "aborted", "{}", prompt, true});  // as the real ones do: from within the call
  impl_->Answer("abort", done);
}
void Sessions::Watch(const AgentRef&, const std::string&, const std::string& after, Watcher* watcher, Done<WatchId> done) {
  auto& driven = impl_->driven;
  driven.after.push_back(after);
  if (driven.refuse) return done(tl::make_unexpected(*driven.refuse));
  driven.watchers[++driven.last] = watcher;
  done(driven.last);
}
void Sessions::Unwatch(WatchId watch) { impl_->driven.watchers.erase(watch); }
void Sessions::Create(const AgentRef&, std::optional<std::string> model, std::optional<llm::ThinkingLevel> thinking, Done<Summary> done) {
  impl_->Answer("create" + Named(model, thinking), done, Some());
}
void Sessions::List(const AgentRef&, Done<std::vector<Summary>> done) { impl_->Answer("list", done, std::vector{Some()}); }
void Sessions::Show(const AgentRef&, const std::string& session, size_t limit, Done<std::string> done) {
  impl_->Answer("show " + session + " " + std::to_string(limit), done, std::string(R"({"id":"s1","messages":[]})"));
}
void Sessions::Delete(const AgentRef&, const std::string& session, Done<> done) { impl_->Answer("delete " + session, done); }
void Sessions::Compact(const AgentRef&, const std::string& session, std::string actor, Done<> done) { impl_->Answer("compact " + session + " " + actor, done); }
void Sessions::StopCompaction(const AgentRef&, const std::string& session) { impl_->driven.calls.push_back("stop compaction " + session); }
void Sessions::SetModel(const AgentRef&, const std::string& session, const std::string& model, std::optional<llm::ThinkingLevel> thinking, Done<Summary> done) {
  impl_->Answer("model " + session + Named(model, thinking), done, Some());
}
}  // namespace sessions
}  // namespace beige
