#include "e2e/talk/talk_home.h"

#include <signal.h>

#include <cstdlib>

namespace beige::e2e {
using nlohmann::json;

Home* TalkHome::home_ = nullptr;
llm::Upstream* TalkHome::upstream_ = nullptr;

std::vector<json> Said::Of(const std::string& name) const {
  std::vector<json> out;
  for (const auto& [event, data] : events) {
    if (event == name) out.push_back(data);
  }
  return out;
}

void TalkHome::SetUpTestSuite() {
  upstream_ = new llm::Upstream;
  home_ = new Home;
  home_->Configure(
      "tools: {kv: {path: ./tools/kv}}\n"
      "llm:\n  providers:\n    up: {api: anthropic-messages, baseUrl: \"http://127.0.0.1:" + std::to_string(upstream_->port()) +
      "\", apiKey: {file: ./up.key}, models: {obey: {}, instant: {}, \"paced:20\": {}, \"r429:7\": {}}}\n");
  home_->WriteFile("up.key", "sk-canary-0123456789\n", 0600);
  home_->AddShellTool("kv", "echo \"kv $* $(cat)\"");
  home_->AddAgent("a1", "tools: [{name: kv}]\nmodel: {choices: [{name: up/obey}, {name: \"up/paced:20\"}]}\ninstructions: Be brief.\n");
  home_->AddAgent("a2", "coreTools: [{name: read}]\nmodel: {choices: [{name: up/obey}]}\n");
  home_->Up();
  home_->WaitReady("a1");
  home_->WaitReady("a2");
}

void TalkHome::TearDownTestSuite() {
  delete home_;
  delete upstream_;
  home_ = nullptr;
  upstream_ = nullptr;
}

Said TalkHome::Say(const json& body, const std::string& agent, int limit) {
  const Outcome answer = home_->Curl({"-sN", "-m", std::to_string(limit), "-w", "\n%{http_code}", "-H", "Authorization: Bearer " + home_->Token(), "-H", "Content-Type: application/json", "-d",
                                      body.dump(), home_->HttpBase() + "/v1/namespaces/default/agents/" + agent + "/prompt"});
  Said out;
  const size_t last = answer.out.rfind('\n');
  out.status = last == std::string::npos || answer.status != 0 ? 0 : std::atoi(answer.out.c_str() + last + 1);
  std::string name;
  size_t at = 0;
  while (at < answer.out.size()) {
    const size_t end = std::min(answer.out.find('\n', at), answer.out.size());
    const std::string line = answer.out.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("event: ")) name = line.substr(7);
    if (!line.starts_with("data: ")) continue;
    const json data = json::parse(line.substr(6), nullptr, false);
    if (data.is_discarded()) continue;
    if (name == "accepted") out.session = data["session"];
    if (name == "text") out.text += data["text"];
    if (name == "error") out.error = data["message"];
    out.events.emplace_back(name, data);
  }
  if (out.events.empty()) out.error = answer.out + answer.err;
  return out;
}

json TalkHome::Show(const std::string& session) {
  const Outcome answer = home_->Curl({"-s", "-H", "Authorization: Bearer " + home_->Token(), home_->HttpBase() + "/v1/namespaces/default/agents/a1/sessions/" + session});
  return json::parse(answer.out, nullptr, false);
}

std::string TalkHome::File(const std::string& session) { return home_->ReadText("sessions/default/a1/" + session + ".jsonl"); }

void TalkHome::KillGateway() {
  const pid_t pid = home_->Pid("gateway");
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  AwaitGateway(pid);
}

void TalkHome::AwaitGateway(pid_t before) {
  ASSERT_TRUE(Eventually([&] { return home_->Pid("gateway") != before || home_->Curl({"-sf", home_->HttpBase() + "/readyz"}).status == 0; }));
  ASSERT_TRUE(Eventually([&] { return home_->Curl({"-sf", home_->HttpBase() + "/readyz"}).status == 0 && home_->Sh("a1", "true").status == 0; }));
}

}  // namespace beige::e2e
