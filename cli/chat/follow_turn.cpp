#include "cli/chat/follow_turn.h"

#include <poll.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/random.h"
#include "cli/gateway_api.h"
#include "cli/report.h"
#include "cli/rest.h"

namespace beige::cli {
namespace {
using nlohmann::ordered_json;
using Kind = SessionEvent::Kind;

// The gateway says something every 15 s; who hears nothing for so long waits for a dead one.
constexpr auto kSilence = std::chrono::seconds(60);
constexpr size_t kLargestImage = 20u << 20;

void Take(TurnResult& turn, const SessionEvent& event) {
  switch (event.kind) {
    case Kind::kAccepted:
      turn.session = event.session;
      turn.prompt = event.prompt;
      break;
    case Kind::kModel: turn.text.clear(); break;
    case Kind::kText: turn.text += event.text; break;
    case Kind::kUsage: turn.usage += event.usage; break;
    case Kind::kDone: turn.stop = event.stop; break;
    case Kind::kAborted: turn.aborted = true; break;
    case Kind::kError:
      turn.error_code = event.code.empty() ? "internal" : event.code;
      turn.error_message = event.text;
      turn.retry_after_ms = event.retry_after_ms;
      break;
    default: break;
  }
}
}  // namespace

Result<PromptImage> ReadImage(const std::string& file) {
  BEIGE_ASSIGN(std::string bytes, ReadRegular(file, kLargestImage));
  const std::string_view head = bytes;
  const char* type = head.starts_with("\x89PNG\r\n") ? "image/png" : head.starts_with("\xff\xd8\xff") ? "image/jpeg" : head.starts_with("GIF8") ? "image/gif"
                     : head.starts_with("RIFF") && head.substr(0, 12).ends_with("WEBP") ? "image/webp" : nullptr;
  if (type == nullptr) return Fail(Code::kInvalid, file + ": want an image (PNG, JPEG, GIF or WebP)");
  return PromptImage{type, std::move(bytes)};
}

std::string EncodePrompt(const PromptBody& body) {
  ordered_json json{{"text", body.text}};
  for (const auto& image : body.images) json["images"].push_back(ordered_json{{"mediaType", image.media_type}, {"data", Base64Encode(image.bytes)}});
  if (!body.session.empty()) json["session"] = body.session;
  if (!body.model.empty()) json["model"] = body.model;
  if (!body.thinking.empty()) json["thinkingLevel"] = body.thinking;
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string EncodeModel(const std::string& model, const std::string& thinking) {
  ordered_json json = ordered_json::object();
  if (!model.empty()) json["model"] = model;
  if (!thinking.empty()) json["thinkingLevel"] = thinking;
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Result<TurnResult> FollowTurn(const HomePaths& paths, const AgentKey& agent, const PromptBody& body, CaughtSignals& signals,
                              const std::function<void(const SessionEvent&)>& on_event) {
  BEIGE_ASSIGN(const GatewayPlace gateway, FindGateway(paths));
  const std::string route = AgentRoute(agent);
  HttpStream stream(gateway.address, {"POST", route + "/prompt", gateway.token, EncodePrompt(body), kSilence});
  TurnResult turn;
  EventStream events;
  std::string refusal;
  const auto ended = [&] { return turn.aborted || !turn.stop.empty() || !turn.error_code.empty(); };
  bool asked = false;  // for the turn to be aborted
  for (;;) {
    // The connection alone would do too, but then nobody could say what became of the turn. The id comes with the first event.
    if (turn.signal != 0 && !asked && !turn.prompt.empty()) {
      asked = true;
      const auto taken_back = AskGateway(paths, "POST", route + "/sessions/" + UrlEncoded(turn.session) + "/abort", ordered_json{{"prompt", turn.prompt}}.dump());
      if (!taken_back) {
        turn.left = true;
        return turn;
      }
    }
    pollfd entries[] = {{stream.fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}};
    ::poll(entries, 2, -1);
    while (const int signal = entries[1].revents != 0 ? signals.Read() : 0) {
      if (signal == SIGWINCH || signal == SIGCONT) continue;
      const bool again = turn.signal != 0;
      turn.signal = signal;
      if (again || signal != SIGINT) {
        turn.left = true;
        return turn;
      }
    }
    const auto piece = stream.Take();
    if (piece.status != 0 && piece.status != 200) {
      refusal += piece.bytes;
      if (piece.ended) return tl::make_unexpected(ErrorOf(paths, piece.status, refusal));
      continue;
    }
    events.Feed(piece.bytes, [&](std::string_view name, std::string_view data) {
      if (ended()) return;
      const SessionEvent event = ReadSessionEvent(name, data);
      Take(turn, event);
      on_event(event);
    });
    if (ended()) return turn;
    if (!piece.ended) continue;
    if (piece.status == 0) return Fail(Code::kUnavailable, "http://" + gateway.address + ": " + piece.error);
    return Fail(Code::kUnavailable, "the gateway went away in the middle of the turn" + (piece.error.empty() ? "" : " (" + piece.error + ")") +
                                        "; see 'beige logs' and 'beige sessions show " + agent.name + " " + turn.session + "'");
  }
}

int StatusOfTurnError(const std::string& code) {
  if (code == "denied") return kDenied;
  for (const char* passing : {"rate_limit", "overloaded", "network", "stalled", "busy", "cooling", "interrupted"}) {
    if (code == passing) return kUnavailable;
  }
  return kFailed;
}

}  // namespace beige::cli
