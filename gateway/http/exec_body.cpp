#include "gateway/http/exec_body.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "api/suggest.h"
#include "base/clock.h"
#include "base/random.h"
#include "gateway/calls/exec_rules.h"

namespace beige {
namespace {
using nlohmann::json;
using Failure = tl::unexpected<BodyError>;

const std::vector<std::string> kFields = {"command", "stdin", "stdinEncoding", "timeout", "env", "cwd"};
constexpr int kMaxDepth = 8;

Failure Bad(std::string field, std::string message) { return tl::make_unexpected(BodyError{std::move(message), std::move(field)}); }

// nlohmann takes the last of two equal keys without a word; two readers that disagree on which counts are a hole.
struct Strictness {
  std::vector<std::set<std::string>> keys;
  std::string repeated;
  bool deep = false;

  bool operator()(int depth, json::parse_event_t event, json& value) {
    if (depth > kMaxDepth) deep = true;
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end && !keys.empty()) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.empty() && !keys.back().insert(value.get<std::string>()).second) repeated = value.get<std::string>();
    return true;
  }
};

std::string ShownType(const json& value) { return value.type_name(); }

bool IsVariableName(const std::string& name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

tl::expected<std::string, BodyError> StringField(const json& body, const char* field) {
  const auto found = body.find(field);
  if (found == body.end() || found->is_null()) return std::string();
  if (!found->is_string()) return Bad(field, std::string(field) + ": want a string, got " + ShownType(*found));
  return found->get<std::string>();
}

tl::expected<void, BodyError> ReadCommand(const json& body, CallRequest& call) {
  const auto command = body.find("command");
  if (command == body.end()) return Bad("command", "command: is missing; want a list such as [\"sh\",\"-c\",\"ls\"]");
  if (!command->is_array()) return Bad("command", "command: want a list such as [\"sh\",\"-c\",\"ls\"], got " + ShownType(*command));
  for (size_t i = 0; i < command->size(); ++i) {
    const json& word = (*command)[i];
    const std::string field = "command[" + std::to_string(i) + "]";
    if (!word.is_string()) return Bad(field, field + ": want a string, got " + ShownType(word));
    call.args.push_back(word.get<std::string>());
  }
  return {};
}

tl::expected<void, BodyError> ReadEnv(const json& body, CallRequest& call) {
  const auto env = body.find("env");
  if (env == body.end() || env->is_null()) return {};
  if (!env->is_object()) return Bad("env", "env: want an object of strings, got " + ShownType(*env));
  for (const auto& [name, value] : env->items()) {
    const std::string field = "env." + name;
    if (!IsVariableName(name)) return Bad("env", "env: want names of letters, digits and _, got \"" + name.substr(0, 100) + "\"");
    if (!value.is_string()) return Bad(field, field + ": want a string, got " + ShownType(value));
    call.env.push_back(name + "=" + value.get<std::string>());
  }
  return {};
}
}  // namespace

tl::expected<ExecBody, BodyError> DecodeExecBody(std::string_view text) {
  Strictness strictness;
  const json body = json::parse(text, std::ref(strictness), /*allow_exceptions=*/false);
  if (body.is_discarded()) return Bad("", "body: want one JSON object in UTF-8, such as {\"command\":[\"true\"]}");
  if (strictness.deep) return Bad("", "body: nested deeper than " + std::to_string(kMaxDepth));
  if (!body.is_object()) return Bad("", "body: want a JSON object, got " + ShownType(body));
  if (!strictness.repeated.empty()) return Bad(strictness.repeated, strictness.repeated + ": is given twice");
  for (const auto& [name, value] : body.items()) {
    if (std::find(kFields.begin(), kFields.end(), name) != kFields.end()) continue;
    const std::string near = Nearest(name, kFields);
    return Bad(name, name.substr(0, 100) + ": no such field" + (near.empty() ? "; known here: command, stdin, stdinEncoding, timeout, env, cwd" : "; did you mean " + near + "?"));
  }

  ExecBody exec;
  CallRequest& call = exec.call;
  call.surface = Surface::kHttp;
  call.kind = CallKind::kExec;
  call.tool = "exec";
  if (auto read = ReadCommand(body, call); !read) return tl::make_unexpected(read.error());
  if (auto read = ReadEnv(body, call); !read) return tl::make_unexpected(read.error());

  auto cwd = StringField(body, "cwd");
  if (!cwd) return tl::make_unexpected(cwd.error());
  call.cwd_claim = std::move(*cwd);

  auto encoding = StringField(body, "stdinEncoding");
  if (!encoding) return tl::make_unexpected(encoding.error());
  if (!encoding->empty() && *encoding != "utf8" && *encoding != "base64") {
    return Bad("stdinEncoding", "stdinEncoding: want utf8 or base64, got \"" + encoding->substr(0, 100) + "\"");
  }
  auto input = StringField(body, "stdin");
  if (!input) return tl::make_unexpected(input.error());
  if (*encoding == "base64") {
    auto bytes = Base64Decode(*input);
    if (!bytes) return Bad("stdin", "stdin: " + bytes.error().message);
    *input = std::move(*bytes);
  }
  exec.stdin_bytes = std::move(*input);
  call.stdin_open = !exec.stdin_bytes.empty();

  auto timeout = StringField(body, "timeout");
  if (!timeout) return tl::make_unexpected(timeout.error());
  if (!timeout->empty()) {
    const auto duration = ParseDuration(*timeout);
    if (!duration || duration->count() <= 0 || duration->count() > 0xffffffffLL) {
      return Bad("timeout", "timeout: want a duration such as 30s, got \"" + timeout->substr(0, 100) + "\"");
    }
    call.timeout = *duration;
  }
  if (auto fits = CheckExec(call); !fits) {
    const std::string& message = fits.error().message;
    return Bad(message.substr(0, message.find(':')), message);
  }
  return exec;
}

}  // namespace beige
