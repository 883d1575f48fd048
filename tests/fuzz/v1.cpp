// A line of protocol v1 in, a line out: what is echoed of a request can't break the answer.
#include <nlohmann/json.hpp>

#include "gateway/http/exec_body.h"
#include "gateway/link/request_rules.h"
#include "gateway/link/v1_codec.h"
#include "tests/fuzz/fuzz.h"

namespace {
using beige::fuzz::Hold;
using namespace beige;

void OneLine(const std::string& answer) {
  Hold(answer.ends_with('\n') && answer.find('\n') == answer.size() - 1, "an answer is one line");
  const auto json = nlohmann::json::parse(answer, nullptr, false);
  Hold(json.is_object() && json.contains("type") && json["type"] == "tool_response" && json.contains("exitCode"), "an answer is JSON of its form");
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto request = v1::Decode(line);
  std::string answer;
  v1::AppendError(answer, request ? request->id : request.error().id, 126, request ? "denied" : request.error().message);
  OneLine(answer);
  answer.clear();
  v1::AppendResult(answer, request ? request->id : request.error().id, line, line, size % 2 == 0 ? 0 : 1, line);
  OneLine(answer);
  if (request) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    Hold(json.is_object() && json["tool"] == request->tool, "a request is a JSON object, and its tool is the one that runs");
    Hold(!json.contains("args") || json["args"].size() == request->args.size(), "no argument is lost or added");
    (void)CheckRequest(request->tool, request->args, {request->cwd, request->session_key, request->channel});
  }
  // The same kind of text by HTTP.
  if (const auto body = DecodeExecBody(line)) Hold(!body->call.args.empty(), "an exec has a program");
  return 0;
}
