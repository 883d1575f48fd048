#include "gateway/http/exec_body.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "gateway/calls/exec_rules.h"

namespace beige {
namespace {
using nlohmann::json;

const std::vector<std::string> kFields = {"command", "stdin", "stdinEncoding", "timeout", "env", "cwd"};
const char* const kExample = R"({"command":["true"]})";

std::string ShownType(const json& value) { return value.type_name(); }

bool IsVariableName(const std::string& name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

BodyResult<> ReadCommand(const json& body, CallRequest& call) {
  const auto command = body.find("command");
  if (command == body.end()) return BadField("command", "is missing; want a list such as [\"sh\",\"-c\",\"ls\"]");
  if (!command->is_array()) return BadField("command", "want a list such as [\"sh\",\"-c\",\"ls\"], got " + ShownType(*command));
  for (size_t i = 0; i < command->size(); ++i) {
    const json& word = (*command)[i];
    const std::string field = "command[" + std::to_string(i) + "]";
    if (!word.is_string()) return BadField(field, "want a string, got " + ShownType(word));
    call.args.push_back(word.get<std::string>());
  }
  return {};
}

BodyResult<> ReadEnv(const json& body, CallRequest& call) {
  const auto env = body.find("env");
  if (env == body.end() || env->is_null()) return {};
  if (!env->is_object()) return BadField("env", "want an object of strings, got " + ShownType(*env));
  for (const auto& [name, value] : env->items()) {
    const std::string field = "env." + name;
    if (!IsVariableName(name)) return BadField("env", "want names of letters, digits and _, got \"" + name.substr(0, 100) + "\"");
    if (!value.is_string()) return BadField(field, "want a string, got " + ShownType(value));
    call.env.push_back(name + "=" + value.get<std::string>());
  }
  return {};
}
}  // namespace

BodyResult<ExecBody> DecodeExecBody(std::string_view text) {
  json body;
  if (auto parsed = ParseStrict(text, kFields, kExample, body); !parsed) return tl::make_unexpected(parsed.error());

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
    return BadField("stdinEncoding", "want utf8 or base64, got \"" + encoding->substr(0, 100) + "\"");
  }
  auto input = StringField(body, "stdin");
  if (!input) return tl::make_unexpected(input.error());
  if (*encoding == "base64") {
    auto bytes = Base64Decode(*input);
    if (!bytes) return BadField("stdin", bytes.error().message);
    *input = std::move(*bytes);
  }
  exec.stdin_bytes = std::move(*input);
  call.stdin_open = !exec.stdin_bytes.empty();

  auto timeout = StringField(body, "timeout");
  if (!timeout) return tl::make_unexpected(timeout.error());
  if (!timeout->empty()) {
    const auto duration = ParseDuration(*timeout);
    if (!duration || duration->count() <= 0 || duration->count() > 0xffffffffLL) {
      return BadField("timeout", "want a duration such as 30s, got \"" + timeout->substr(0, 100) + "\"");
    }
    call.timeout = *duration;
  }
  if (auto fits = CheckExec(call); !fits) {
    const std::string& message = fits.error().message;
    return tl::make_unexpected(BodyError{message, message.substr(0, message.find(':'))});
  }
  return exec;
}

}  // namespace beige
