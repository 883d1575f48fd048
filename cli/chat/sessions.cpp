#include "cli/chat/sessions.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/chat/follow_turn.h"
#include "cli/chat/session_list.h"
#include "cli/gateway_api.h"
#include "cli/report.h"

namespace beige::cli {
namespace {
using nlohmann::ordered_json;

std::string Pretty(const ordered_json& value) { return value.dump(2, ' ', false, ordered_json::error_handler_t::replace); }

// Prints the summary that an answer holds: whole, or the id with what was done.
int PrintSummary(const Globals& globals, const std::string& command, const std::string& body, const std::string& done) {
  const auto summary = ParseSummary(body);
  if (!summary) return Report(command, summary.error());
  if (globals.structured()) {
    PrintStructured(globals, Pretty(ordered_json::parse(body, nullptr, false)));
  } else {
    PrintLine(ForTerminal("session/" + summary->id + (globals.output == Output::kName ? "" : " " + done)));
  }
  return kDone;
}

int Simple(const Globals& globals, const std::string& command, const SessionsOptions& options, const std::string& method, const std::string& tail, const std::string& done,
           std::chrono::milliseconds timeout = std::chrono::seconds(10)) {
  const auto answer = AskGateway(globals.paths(), method, SessionRoute(globals.Key(options.name), options.id) + tail, method == "POST" ? "{}" : "", timeout);
  if (!answer) return Report(command, answer.error());
  PrintLine("session/" + Printable(options.id) + (globals.output == Output::kName ? "" : " " + done));
  return kDone;
}
}  // namespace

int RunSessionsList(const Globals& globals, const SessionsOptions& options) {
  if (options.name.empty()) return Report("sessions", kUsage, "want the NAME of an agent; 'beige get agents' lists them, and see 'beige sessions --help'");
  const auto body = GetFromGateway(globals.paths(), AgentRoute(globals.Key(options.name)) + "/sessions");
  if (!body) return Report("sessions", body.error());
  const auto document = ordered_json::parse(*body, nullptr, false);
  if (!document.is_object() || !document.contains("items") || !document["items"].is_array()) {
    return Report("sessions", kFailed, "the gateway's answer is not a list of sessions; is it of another version? see 'beige status'");
  }
  if (globals.structured()) {
    PrintStructured(globals, Pretty(document));
    return kDone;
  }
  std::vector<SessionSummary> sessions;
  for (const auto& item : document["items"]) sessions.push_back(ReadSummary(item));
  if (globals.output == Output::kName) {
    for (const auto& session : sessions) PrintLine("session/" + Printable(session.id));
  } else if (!sessions.empty()) {
    Print(SessionTable(sessions, std::chrono::system_clock::now(), globals.output == Output::kWide, false));
  } else {
    PrintError("sessions", "no sessions; 'beige chat " + options.name + "' begins one");
  }
  return kDone;
}

int RunSessionsShow(const Globals& globals, const SessionsOptions& options) {
  std::string path = SessionRoute(globals.Key(options.name), options.id);
  if (options.limit > 0) path += "?limit=" + std::to_string(options.limit);
  const auto body = GetFromGateway(globals.paths(), path);
  if (!body) return Report("sessions show", body.error());
  const auto document = ordered_json::parse(*body, nullptr, false);
  if (!document.is_object() || !document.contains("messages")) {
    return Report("sessions show", kFailed, "the gateway's answer is not a session; is it of another version? see 'beige status'");
  }
  if (globals.structured()) {
    PrintStructured(globals, Pretty(document));
  } else if (globals.output == Output::kName) {
    PrintLine("session/" + Printable(options.id));
  } else {
    Print(ConversationText(document, Palette::Of(WantsColour(STDOUT_FILENO))));
  }
  return kDone;
}

int RunSessionsNew(const Globals& globals, const SessionsOptions& options) {
  const auto body = AskGateway(globals.paths(), "POST", AgentRoute(globals.Key(options.name)) + "/sessions", EncodeModel(options.model, options.thinking));
  if (!body) return Report("sessions new", body.error());
  return PrintSummary(globals, "sessions new", *body, "created");
}

int RunSessionsDelete(const Globals& globals, const SessionsOptions& options) { return Simple(globals, "sessions delete", options, "DELETE", "", "deleted"); }

int RunSessionsAbort(const Globals& globals, const SessionsOptions& options) { return Simple(globals, "sessions abort", options, "POST", "/abort", "aborted"); }

int RunSessionsCompact(const Globals& globals, const SessionsOptions& options) {
  return Simple(globals, "sessions compact", options, "POST", "/compact", "compacted", kCompactTimeout);
}

int RunSessionsModel(const Globals& globals, const SessionsOptions& options) {
  const auto body = AskGateway(globals.paths(), "POST", SessionRoute(globals.Key(options.name), options.id) + "/model", EncodeModel(options.model, options.thinking));
  if (!body) return Report("sessions model", body.error());
  return PrintSummary(globals, "sessions model", *body, "answered by " + options.model + (options.thinking.empty() ? "" : ", thinking " + options.thinking));
}

}  // namespace beige::cli
