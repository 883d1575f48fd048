#include "gateway/link/v1_codec.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace beige::v1 {
namespace {
constexpr int kMaxDepth = 32;

enum class Key { kOther, kType, kTool, kArgs, kCwd, kContext, kId, kSession, kChannel };

// Fills a request while the text is parsed; no document is built, so nesting and size cost nothing.
class Filler : public nlohmann::json_sax<nlohmann::json> {
 public:
  Request request;
  std::string error;
  bool typed = false;

  bool null() override {
    if (depth_ == 1 && key_ == Key::kId) request.id = "null";
    return depth_ > 0 && (skipping() || (depth_ == 1 && key_ != Key::kType && key_ != Key::kTool) || depth_ == 2) ? true : Wrong("null");
  }
  bool boolean(bool value) override { return Scalar(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return Scalar(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Scalar(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return Scalar(text); }
  bool binary(binary_t&) override { return false; }

  bool string(string_t& value) override {
    if (skipping()) return true;
    if (in_args_) {
      request.args.push_back(std::move(value));
      return true;
    }
    switch (key_) {
      case Key::kType:
        typed = value == "tool_request";
        return typed || Say("type: want \"tool_request\", got \"" + value.substr(0, 40) + "\"");
      case Key::kTool: request.tool = std::move(value); return true;
      case Key::kCwd: request.cwd = std::move(value); return true;
      case Key::kSession: request.session_key = std::move(value); return true;
      case Key::kChannel: request.channel = std::move(value); return true;
      case Key::kId:
        request.id.clear();
        AppendJsonString(request.id, value);
        return true;
      case Key::kOther: return depth_ > 0 || Wrong("a string");
      case Key::kArgs:
      case Key::kContext: return Wrong("a string");
    }
    return false;
  }

  bool start_object(std::size_t) override {
    if (++depth_ > kMaxDepth) return Say("nested deeper than " + std::to_string(kMaxDepth));
    if (depth_ == 1 || skipping_from_ > 0) return true;
    if (depth_ == 2 && key_ == Key::kContext) return true;
    return key_ == Key::kOther && !in_args_ ? Skip() : Wrong("an object");
  }
  bool end_object() override { return Leave(); }
  bool start_array(std::size_t) override {
    if (++depth_ > kMaxDepth) return Say("nested deeper than " + std::to_string(kMaxDepth));
    if (skipping_from_ > 0) return true;
    if (depth_ == 2 && key_ == Key::kArgs && !in_args_) return in_args_ = true;
    return depth_ > 1 && key_ == Key::kOther && !in_args_ ? Skip() : Wrong("an array");
  }
  bool end_array() override { return Leave(); }

  bool key(string_t& name) override {
    if (skipping()) return true;
    key_ = Key::kOther;
    if (depth_ == 1) {
      if (name == "type") key_ = Key::kType;
      if (name == "tool") key_ = Key::kTool;
      if (name == "args") key_ = Key::kArgs;
      if (name == "cwd") key_ = Key::kCwd;
      if (name == "sessionContext") key_ = Key::kContext;
      if (name == "id") key_ = Key::kId;
    } else {
      if (name == "sessionKey") key_ = Key::kSession;
      if (name == "channel") key_ = Key::kChannel;
    }
    if (key_ == Key::kOther) return true;
    const unsigned bit = 1u << static_cast<unsigned>(key_);
    if ((seen_ & bit) != 0) return Say(name + ": given twice");
    seen_ |= bit;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& e) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: ..."
    const std::string_view text = e.what();
    return Say(std::string(text.substr(text.find(']') == std::string_view::npos ? 0 : text.find(']') + 2)));
  }

 private:
  bool skipping() const { return skipping_from_ > 0; }
  bool Skip() {
    skipping_from_ = depth_;
    return true;
  }
  bool Leave() {
    if (skipping_from_ == depth_) skipping_from_ = 0;
    --depth_;
    in_args_ = false;
    key_ = Key::kOther;
    return true;
  }
  bool Scalar(std::string text) {
    if (skipping()) return true;
    if (depth_ == 1 && key_ == Key::kId) {
      request.id = std::move(text);
      return true;
    }
    return depth_ > 0 && key_ == Key::kOther && !in_args_ ? true : Wrong(text);
  }
  bool Wrong(const std::string& got) {
    static constexpr const char* kNames[] = {"request", "type", "tool", "args", "cwd", "sessionContext", "id", "sessionContext.sessionKey", "sessionContext.channel"};
    static constexpr const char* kWant[] = {"an object", "a string", "a string", "a list of strings", "a string", "an object", "a string or a number", "a string", "a string"};
    const auto i = static_cast<size_t>(key_);
    return Say(std::string(kNames[i]) + ": want " + kWant[i] + ", got " + got.substr(0, 40));
  }
  bool Say(std::string message) {
    if (error.empty()) error = std::move(message);
    return false;
  }

  int depth_ = 0;
  int skipping_from_ = 0;
  bool in_args_ = false;
  Key key_ = Key::kOther;
  unsigned seen_ = 0;
};
}  // namespace

tl::expected<Request, Malformed> Decode(std::string_view line) {
  Filler filler;
  const bool parsed = nlohmann::json::sax_parse(line.begin(), line.end(), &filler);
  const auto bad = [&](std::string message) {
    return tl::make_unexpected(Malformed{std::move(filler.request.id), "malformed request: " + std::move(message)});
  };
  if (!parsed) return bad(filler.error.empty() ? "not JSON" : std::move(filler.error));
  if (!filler.typed) return bad("type: want \"tool_request\", got nothing");
  if (filler.request.tool.empty()) return bad("tool: want the name of a tool, got nothing");
  return std::move(filler.request);
}

namespace {
void AppendHead(std::string& out, std::string_view id) {
  out += R"({"type":"tool_response",)";
  if (!id.empty()) {
    out += R"("id":)";
    out += id;
    out += ',';
  }
}
}  // namespace

void AppendResult(std::string& out, std::string_view id, std::string_view output, std::string_view error_output, int exit_status,
                  std::string_view error) {
  AppendHead(out, id);
  out += exit_status == 0 ? R"("success":true,"output":)" : R"("success":false,"output":)";
  AppendJsonString(out, output);
  if (!error_output.empty()) {
    out += R"(,"stderr":)";
    AppendJsonString(out, error_output);
  }
  if (exit_status != 0) {
    out += R"(,"error":)";
    AppendJsonString(out, error);
  }
  out += R"(,"exitCode":)";
  AppendNumber(out, exit_status);
  out += "}\n";
}

void AppendError(std::string& out, std::string_view id, int exit_status, std::string_view error) {
  AppendHead(out, id);
  out += R"("success":false,"error":)";
  AppendJsonString(out, error);
  out += R"(,"exitCode":)";
  AppendNumber(out, exit_status);
  out += "}\n";
}

}  // namespace beige::v1
