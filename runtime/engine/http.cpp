#include "runtime/engine/http.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/unix_socket.h"
#include "runtime/engine/chunk_queue.h"
#include "runtime/engine/errors.h"

namespace beige::runtime::engine {

namespace {

using Steady = std::chrono::steady_clock;

std::string EscapeExcept(std::string_view text, std::string_view keep) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
    if (plain || keep.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

Result<> AddUpload(const std::string& path, Transfer& transfer) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info{};
  if (!fd || fstat(fd.get(), &info) != 0) return FailErrno(errno, "open " + path);
  if (!S_ISREG(info.st_mode)) return Fail(Code::kInvalid, path + ": want a regular file (a tar)");
  transfer.upload = std::move(fd);
  transfer.upload_size = info.st_size;
  transfer.content_type = "application/x-tar";
  return {};
}

// Docker: 400 "client version 1.51 is too new. Maximum supported API version is 1.45".
bool IsVersionRefusal(const Result<Response>& answer) {
  return !answer && answer.error().code == Code::kInvalid && answer.error().message.find("client version") != std::string::npos;
}

}  // namespace

std::string Escape(std::string_view text) { return EscapeExcept(text, ""); }
std::string EscapePath(std::string_view text) { return EscapeExcept(text, "/:@"); }

ServerInfo ServerInfoOf(ApiVersion api, const Outcome& ping) {
  return {api, std::string(ping.Header("server")), !ping.Header("libpod-api-version").empty()};
}

EngineHttp::EngineHttp(HttpOptions options) : options_(std::move(options)) {}

Transfer EngineHttp::Prepare(const Call& call, const std::string& target) const {
  Transfer transfer;
  transfer.socket = options_.socket;
  transfer.method = call.method;
  transfer.url = "http://engine" + target;
  transfer.body = call.body;
  if (!call.body.empty()) transfer.content_type = "application/json";
  transfer.deadline = call.deadline;
  transfer.idle = call.idle;
  return transfer;
}

Error EngineHttp::Explain(const Call& call, const Outcome& outcome, std::string_view body) const {
  const std::string where = options_.engine + " at " + options_.socket;
  switch (outcome.ended) {
    case Ended::kNoConnection:
      return {Code::kUnavailable, where + " does not answer: " + outcome.why + "; " + options_.start_hint + " or set engine.socket"};
    case Ended::kTimeout:
      return {Code::kTimeout, where + ": " + call.operation + ": no answer within " +
                                  FormatDuration(outcome.status != 0 && call.idle.count() > 0 ? call.idle : call.deadline) +
                                  "; the engine hangs or is overloaded"};
    case Ended::kBroken: return {Code::kUnavailable, where + ": " + call.operation + ": the connection broke: " + outcome.why};
    case Ended::kStopped: return {Code::kUnavailable, where + ": " + call.operation + ": given up"};
    case Ended::kComplete: break;
  }
  const std::string text = ErrorText(body);
  return {CodeOfStatus(outcome.status, text), text.empty() ? where + ": status " + std::to_string(outcome.status) : text};
}

void EngineHttp::Observe(const Call& call, const Outcome& outcome, Steady::time_point since) const {
  if (!options_.observer) return;
  const std::string code = outcome.ended == Ended::kComplete ? std::to_string(outcome.status)
                                                             : std::string(CodeName(Explain(call, outcome, "").code));
  options_.observer(call.operation, code, std::chrono::duration<double>(Steady::now() - since).count());
}

void EngineHttp::Forget() { server_.Set(std::nullopt); }

Result<Response> EngineHttp::RequestOnce(const Call& call, const std::string& target) {
  if (loop_.OnLoopThread()) return Fail(Code::kInternal, call.operation + ": a blocking engine call was made in an engine callback");
  BEIGE_TRY(CheckSocketPath(options_.socket));
  Transfer transfer = Prepare(call, target);
  if (!call.upload.empty()) BEIGE_TRY(AddUpload(call.upload, transfer));
  const auto since = Steady::now();
  ChunkQueue queue(call.max_body);
  queue.Attach(transfer);
  loop_.Start(std::move(transfer));
  const Outcome outcome = queue.WaitEnd();
  Observe(call, outcome, since);
  if (queue.overflowed()) {
    return Fail(Code::kInternal, options_.engine + ": " + call.operation + ": the answer is larger than " + std::to_string(call.max_body) + " bytes");
  }
  if (outcome.ended == Ended::kNoConnection || outcome.ended == Ended::kBroken) Forget();
  if (outcome.ended != Ended::kComplete || outcome.status >= 400) return tl::make_unexpected(Explain(call, outcome, queue.body()));
  return Response{outcome.status, queue.TakeBody()};
}

Result<ServerInfo> EngineHttp::Ping() {
  if (loop_.OnLoopThread()) return Fail(Code::kInternal, "ping: a blocking engine call was made in an engine callback");
  BEIGE_TRY(CheckSocketPath(options_.socket));
  const Call call{.operation = "ping", .path = "/_ping", .deadline = options_.ping_deadline};
  const auto since = Steady::now();
  ChunkQueue queue(64u << 10);
  Transfer transfer = Prepare(call, call.path);
  queue.Attach(transfer);
  loop_.Start(std::move(transfer));
  const Outcome outcome = queue.WaitEnd();
  Observe(call, outcome, since);
  if (outcome.ended != Ended::kComplete || outcome.status >= 400) return tl::make_unexpected(Explain(call, outcome, queue.body()));
  BEIGE_ASSIGN(const ApiVersion api, NegotiateApi(outcome.Header("api-version")));
  const ServerInfo info = ServerInfoOf(api, outcome);
  server_.Set(info);
  return info;
}

Result<ServerInfo> EngineHttp::Server() {
  if (auto known = server_.Copy()) return *known;
  return Ping();
}

Result<Response> EngineHttp::Request(const Call& call) {
  BEIGE_ASSIGN(const ServerInfo server, Server());
  auto answer = RequestOnce(call, "/v" + server.api.Text() + call.path);
  if (!IsVersionRefusal(answer)) return answer;
  Forget();  // another engine took the socket over
  BEIGE_ASSIGN(const ServerInfo again, Server());
  return RequestOnce(call, "/v" + again.api.Text() + call.path);
}

Result<Response> EngineHttp::Request(const std::string& method, const std::string& path, const std::string& body,
                                     std::chrono::milliseconds deadline) {
  return Request(Call{.operation = "request", .method = method, .path = path, .body = body, .deadline = deadline});
}

Result<> EngineHttp::Stream(const Call& call, const std::function<Result<>(std::string_view)>& on_chunk) {
  BEIGE_ASSIGN(const ServerInfo server, Server());
  if (loop_.OnLoopThread()) return Fail(Code::kInternal, call.operation + ": a blocking engine call was made in an engine callback");
  Transfer transfer = Prepare(call, "/v" + server.api.Text() + call.path);
  if (!call.upload.empty()) BEIGE_TRY(AddUpload(call.upload, transfer));
  const auto since = Steady::now();
  ChunkQueue queue(1u << 20);
  queue.PauseWhenFull();
  queue.Attach(transfer);
  const CurlLoop::Id id = loop_.Start(std::move(transfer));
  std::string error_body;
  std::optional<Error> refused;
  while (auto chunk = queue.Next()) {
    loop_.Resume(id);
    if (queue.status() >= 400) {
      if (error_body.size() < (64u << 10)) error_body += *chunk;
    } else if (!refused) {
      if (auto taken = on_chunk(*chunk); !taken) {
        refused = taken.error();
        loop_.Stop(id);
      }
    }
  }
  const Outcome outcome = queue.WaitEnd();
  Observe(call, outcome, since);
  if (refused) return tl::make_unexpected(*refused);
  if (outcome.ended == Ended::kNoConnection || outcome.ended == Ended::kBroken) Forget();
  if (outcome.ended != Ended::kComplete || outcome.status >= 400) return tl::make_unexpected(Explain(call, outcome, error_body));
  return {};
}

}  // namespace beige::runtime::engine
