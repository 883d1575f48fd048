#include "tests/gateway/sessions/sessions_fixture.h"

#include <fstream>

#include "base/files.h"
#include "gateway/sessions/log_file.h"

namespace beige::sessions {

llm::Upstream* SessionsTest::upstream_ = nullptr;

CallService::Id ScriptedCalls::Start(CallRequest request, CallSink* sink) {
  const Id id = ++last_;
  std::string asked = request.args.empty() ? "" : request.args[0];
  asked.erase(0, asked.find('=') + 1);  // "command=ls"
  started.push_back(std::move(request));
  open_[id] = {sink, asked};
  const auto found = script.find(asked);
  const Answer answer = found == script.end() ? Answer{"ran"} : found->second;
  if (answer.hang) return id;
  loop_.Post([this, id, answer, alive = alive_] {
    const auto call = open_.find(id);
    if (call == open_.end()) return;
    CallSink* to = call->second.first;
    if (!answer.out.empty()) to->OnOutput(1, answer.out);
    if (open_.erase(id) > 0) to->OnExit({BGE_HOW_EXITED, answer.code, "", "id"});
  });
  return id;
}

void ScriptedCalls::Finish(const std::string& asked, const Answer& answer) {
  for (auto it = open_.begin(); it != open_.end(); ++it) {
    if (it->second.second != asked) continue;
    CallSink* to = it->second.first;
    if (!answer.out.empty()) to->OnOutput(1, answer.out);
    open_.erase(it);
    return to->OnExit({BGE_HOW_EXITED, answer.code, "", "id"});
  }
}

void ScriptedCalls::Cancel(Id id) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  cancelled.push_back(found->second.second);
  open_.erase(found);
}

void Eye::OnEvent(const Event& event) {
  seen_.With([&](auto& seen) { seen.push_back({event.id, std::string(event.name), event.prompt, nlohmann::json::parse(event.data), event.ends}); });
}
void Eye::OnClosed(const Error& why) { closed_.Set(why); }
std::vector<Seen> Eye::All() const {
  return seen_.With([](auto& seen) { return seen; });
}
std::vector<Seen> Eye::Of(const std::string& name) const {
  std::vector<Seen> out;
  for (Seen& seen : All()) {
    if (seen.name == name) out.push_back(std::move(seen));
  }
  return out;
}
std::string Eye::Names() const {
  std::string out, last;
  for (const Seen& seen : All()) {
    if (seen.name == last && last == "text") continue;
    last = seen.name;
    out += (out.empty() ? "" : " ") + last;
  }
  return out;
}
std::string Eye::Text() const {
  std::string out;
  for (const Seen& seen : Of("text")) out += seen.data["text"].get<std::string>();
  return out;
}
bool Eye::Ended(const std::string& prompt) const {
  for (const Seen& seen : All()) {
    if (seen.ends && seen.prompt == prompt) return true;
  }
  return false;
}
std::optional<Error> Eye::Closed() const {
  return closed_.With([](auto& closed) { return closed; });
}

void SessionsTest::SetUp() {
  upstream_->Reset();
  core_ = std::make_unique<testing::Core>();
  Up();
}

void SessionsTest::TearDown() { Down(); }

void SessionsTest::Up() {
  core_->On([this] {
    models_ = std::make_unique<llm::Llm>(core_->loop(), clock_, core_->metrics(), core_->paths().ProviderHealth());
    calls_ = std::make_unique<ScriptedCalls>(core_->loop());
    sessions_ = std::make_unique<Sessions>(core_->loop(), clock_, core_->paths(), core_->roster(), *calls_, core_->audit(), core_->metrics(), *models_);
  });
}

void SessionsTest::Down() {
  core_->On([this] {
    sessions_.reset();
    calls_.reset();
    models_.reset();
  });
}

void SessionsTest::Grant(const std::vector<std::string>& models, std::vector<std::string> core_tools) {
  LlmProviderConfig& provider = core_->config.llm.providers["up"];
  provider.api = LlmApi::kAnthropicMessages;
  provider.base_url = "http://127.0.0.1:" + std::to_string(upstream_->port());
  provider.api_key = Secret("sk-canary-0123456789");
  admin::Grant grant;
  grant.agent = Agent();
  static int64_t generation = 0;
  grant.generation = ++generation;
  grant.core_tools = std::move(core_tools);
  grant.instructions = "Be brief.";
  for (const std::string& model : models) {
    provider.models.try_emplace(model);
    grant.model_choices.push_back({"up/" + model, "off"});
  }
  core_->Configure();
  core_->On([&] {
    auto snapshot = std::make_shared<const GatewayConfig>(core_->config);
    (void)models_->SetConfig(snapshot);
    sessions_->SetConfig(snapshot, {});
    return core_->roster().Put(grant).has_value();
  });
}

Prompt SessionsTest::Say(const std::string& text, const std::string& session) const {
  Prompt prompt;
  prompt.agent = Agent();
  prompt.actor = "local";
  prompt.session = session;
  prompt.text = text;
  return prompt;
}

Result<Accepted> SessionsTest::Submit(Prompt prompt) {
  return Get<Accepted>([&](Done<Accepted> done) { sessions_->Submit(std::move(prompt), std::move(done)); });
}

void SessionsTest::Follow(const Accepted& accepted, Eye& eye) {
  const auto watch = Get<WatchId>([&](Done<WatchId> done) { sessions_->Watch(Agent(), accepted.session, accepted.after, &eye, std::move(done)); });
  ASSERT_TRUE(watch) << watch.error().message;
}

Accepted SessionsTest::Begin(const std::string& text, Eye& eye, const std::string& session) {
  const auto accepted = Submit(Say(text, session));
  EXPECT_TRUE(accepted) << accepted.error().message;
  if (!accepted) return {};
  Follow(*accepted, eye);
  return *accepted;
}

Accepted SessionsTest::BeginCall(Eye& eye, const std::string& session) {
  core_->On([&] { calls_->script["wait"] = {.hang = true}; });
  Accepted accepted = Begin(R"(CALL exec {"command":"wait"})", eye, session);
  EXPECT_TRUE(testing::Eventually([&] { return core_->On([&] { return calls_->InFlight("") > 0; }); }));
  return accepted;
}

void SessionsTest::Leave(const std::string& id, const std::vector<Record>& records, const std::string& torn) {
  ASSERT_TRUE(MakeDirs(core_->paths().SessionsDir(Agent().key()), 0700));
  std::ofstream file(File(id), std::ios::binary);
  int64_t n = 0;
  bool detached = false;
  for (const Record& record : records) {
    file << EncodeLine({++n, "2026-11-30T00:00:00.000Z", record});
    if (const auto* said = std::get_if<Said>(&record)) detached = detached || said->detach;
  }
  file << torn;
  if (detached) std::ofstream(File(id) + std::string(kMark));
}

Accepted SessionsTest::Talk(Prompt prompt) {
  eye_ = &NewEye();
  const auto accepted = Submit(std::move(prompt));
  EXPECT_TRUE(accepted) << accepted.error().message;
  if (!accepted) return {};
  Follow(*accepted, *eye_);
  EXPECT_TRUE(testing::Eventually([&] { return eye_->Ended(accepted->prompt); })) << eye_->Names();
  return *accepted;
}

nlohmann::json SessionsTest::Show(const std::string& session) {
  const auto shown = Get<std::string>([&](Done<std::string> done) { sessions_->Show(Agent(), session, 0, std::move(done)); });
  EXPECT_TRUE(shown) << shown.error().message;
  return shown ? nlohmann::json::parse(*shown) : nlohmann::json();
}

std::string SessionsTest::File(const std::string& session) const { return core_->paths().SessionsDir(Agent().key()) + "/" + session + ".jsonl"; }

nlohmann::json SessionsTest::LastBody() const {
  const nlohmann::json requests = upstream_->Stats()["requests"];
  return requests.empty() ? nlohmann::json() : requests.back()["body"];
}

bool SessionsTest::AuditHas(const std::string& text) const {
  return core_->AuditShows([&](const auto& lines) { return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return line.find(text) != std::string::npos; }); });
}

}  // namespace beige::sessions
