#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "api/suggest.h"
#include "cli/chat/chat.h"
#include "cli/chat/sessions.h"
#include "cli/gateway_api.h"
#include "cli/home_agents.h"
#include "cli/report.h"
#include "cli/table.h"

namespace beige::cli {
namespace {
using nlohmann::ordered_json;
constexpr size_t kShownMessages = 10;  // records of a session that is gone on with

struct Entry {
  const char* name;
  const char* arguments;
  const char* what;
};
constexpr Entry kEntries[] = {{"/help", "", "this list"},
                              {"/new", "", "begin a new session with the next prompt"},
                              {"/sessions", "", "list this agent's sessions"},
                              {"/session", "ID", "go on with another session: its id, or its number in the list"},
                              {"/model", "[NAME [LEVEL]]", "which models there are; choose one, and how much it thinks (off, minimal, low, medium, high)"},
                              {"/compact", "", "replace what was said so far by a summary"},
                              {"/abort", "", "take back what runs or waits in this session, whoever said it"},
                              {"/quit", "", "leave; so does Ctrl-D"}};
}  // namespace

std::vector<std::string> Chat::Commands() {
  std::vector<std::string> names;
  for (const auto& entry : kEntries) names.emplace_back(entry.name);
  return names;
}

void Chat::Command(const std::string& line) {
  std::istringstream words(line);
  std::string command;
  std::string first;
  std::string second;
  std::string more;
  words >> command >> first >> second >> more;
  const auto entry = std::find_if(std::begin(kEntries), std::end(kEntries), [&](const Entry& e) { return command == e.name; });
  if (entry == std::end(kEntries)) {
    const std::string near = Nearest(command, Commands());
    static_cast<void>(Failed({Code::kInvalid, command + ": no such command" + (near.empty() ? "; /help lists them, and a prompt that begins with / is typed with two of them" : "; did you mean " + near + "?")}));
    return;
  }
  const size_t given = (first.empty() ? 0u : 1u) + (second.empty() ? 0u : 1u) + (more.empty() ? 0u : 1u);
  const size_t most = command == "/model" ? 2 : command == "/session" ? 1 : 0;
  if (given > most || (command == "/session" && given == 0)) {
    static_cast<void>(Failed({Code::kInvalid, "want " + command + (*entry->arguments == '\0' ? "" : " ") + entry->arguments + ", got \"" + line + "\""}));
    return;
  }
  if (command == "/help") Help();
  if (command == "/quit") over_ = true;
  if (command == "/sessions") ShowSessions();
  if (command == "/session") SwitchTo(first);
  if (command == "/model" && first.empty()) ShowModels();
  if (command == "/model" && !first.empty()) Model(first, second);
  if (command == "/compact") Compact();
  if (command == "/abort") Abort();
  if (command == "/new") {
    session_.clear();
    Note("the next prompt begins a new session");
  }
}

void Chat::Help() {
  Table table({"", ""});
  for (const auto& entry : kEntries) table.Add({std::string(entry.name) + (*entry.arguments == '\0' ? "" : " ") + entry.arguments, entry.what});
  Print(table.Render(false));
  Note("A line that ends in \\ goes on in the next one; what is pasted stays together. What is typed while the agent answers is read afterwards.");
}

void Chat::ShowSessions() {
  auto sessions = ListSessions(globals_.paths(), agent_);
  if (!sessions) {
    static_cast<void>(Failed(sessions.error()));
    return;
  }
  listed_ = std::move(*sessions);
  if (listed_.empty()) Note("no sessions yet");
  if (!listed_.empty()) Print(SessionTable(listed_, std::chrono::system_clock::now(), false, true));
}

void Chat::SwitchTo(const std::string& which) {
  const bool number = !which.empty() && which.size() <= 4 && std::all_of(which.begin(), which.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!number) {
    static_cast<void>(Open(which));
    return;
  }
  const size_t index = std::stoul(which);
  if (index == 0 || index > listed_.size()) {
    static_cast<void>(Failed({Code::kInvalid, "/session " + which + ": " + (listed_.empty() ? "/sessions gives them numbers" : "the list goes from 1 to " + std::to_string(listed_.size()))}));
    return;
  }
  static_cast<void>(Open(listed_[index - 1].id));
}

bool Chat::Open(const std::string& id) {
  const auto body = GetFromGateway(globals_.paths(), SessionRoute(agent_, id) + "?limit=" + std::to_string(kShownMessages));
  if (!body) return Failed(body.error()) == kDone;
  const auto session = ordered_json::parse(*body, nullptr, false);
  const SessionSummary summary = ReadSummary(session);
  if (summary.id.empty()) return Failed({Code::kUnavailable, "the gateway's answer is not a session; is it of another version? see 'beige status'"}) == kDone;
  session_ = summary.id;
  answering_ = summary.model;
  if (on_terminal_) Print(ConversationText(session, palette_) + "\n");
  return true;
}

// The agent's own choices, as its file has them.
void Chat::ShowModels() {
  if (!answering_.empty()) Note("answers now: " + answering_);
  const auto view = ReadAgent(globals_.paths(), agent_);
  const auto agent = ordered_json::parse(view ? ToJson(globals_.paths(), *view) : "{}", nullptr, false);
  const auto choices = agent.value("/spec/model/choices"_json_pointer, ordered_json::array());
  for (const auto& choice : choices) {
    const std::string level = choice.value("thinkingLevel", "");
    PrintLine("  " + Printable(choice.value("name", "")) + (level.empty() ? "" : "  thinking " + Printable(level)));
  }
  if (choices.empty()) Note("the agent names no models; spec.model.choices of its file does");
}

void Chat::Model(const std::string& model, const std::string& thinking) {
  if (session_.empty()) {
    model_ = model;
    thinking_ = thinking;
    Note(model + " answers the next prompt");
    return;
  }
  const auto body = AskGateway(globals_.paths(), "POST", SessionRoute(agent_, session_) + "/model", EncodeModel(model, thinking));
  if (!body) {
    static_cast<void>(Failed(body.error()));
    return;
  }
  answering_ = model;
  Note(model + " answers from now on" + (thinking.empty() ? "" : ", thinking " + thinking));
}

void Chat::Compact() {
  if (!NeedsSession("/compact")) return;
  if (on_terminal_) Note("the model writes a summary; Ctrl-C leaves it to the gateway");
  const auto done = AskGateway(globals_.paths(), "POST", SessionRoute(agent_, session_) + "/compact", "{}", kCompactTimeout, signals_.fd());
  while (signals_.Read() != 0) {
  }
  if (!done) static_cast<void>(Failed(done.error()));
  if (done) Note("compacted: what was said before is now a summary");
}

void Chat::Abort() {
  if (!NeedsSession("/abort")) return;
  const auto done = AskGateway(globals_.paths(), "POST", SessionRoute(agent_, session_) + "/abort", "{}");
  if (!done) static_cast<void>(Failed(done.error()));
  if (done) Note("nothing runs in this session any more");
}

bool Chat::NeedsSession(const char* what) {
  if (session_.empty()) Note(std::string(what) + ": nothing was said in this session yet");
  return !session_.empty();
}

}  // namespace beige::cli
