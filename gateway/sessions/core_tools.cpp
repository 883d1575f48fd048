#include "gateway/sessions/core_tools.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/agent.h"
#include "api/json_object.h"
#include "gateway/calls/exec_rules.h"

namespace beige::sessions {
namespace {
using nlohmann::json;

constexpr const char* kSandboxProgram = "/beige/bin/beige-sandbox";

struct Words {
  std::string_view name, description, schema;
};
constexpr Words kWords[] = {
    {"read",
     "Reads a file: the lines of a text from offset on, at most limit lines and 50 KB, or an image (png, jpeg, gif, webp). Says how to go on "
     "when there is more. A path that is not absolute is beneath /workspace.",
     R"({"type":"object","properties":{"path":{"type":"string","description":"path of the file"},"offset":{"type":"integer","minimum":1,"description":"first line, 1 = the first of the file"},"limit":{"type":"integer","minimum":1,"description":"number of lines, 2000 if absent"}},"required":["path"],"additionalProperties":false})"},
    {"write", "Writes a file, making it and the directories on its way or replacing all that is in it.",
     R"({"type":"object","properties":{"path":{"type":"string","description":"path of the file"},"content":{"type":"string","description":"all of the file's text"}},"required":["path","content"],"additionalProperties":false})"},
    {"patch", "Replaces a piece of a file's text. oldText must stand in the file exactly once, the same to the last blank and line end; no patterns.",
     R"({"type":"object","properties":{"path":{"type":"string","description":"path of the file"},"oldText":{"type":"string","minLength":1,"description":"the text that is replaced"},"newText":{"type":"string","description":"the text in its place"}},"required":["path","oldText","newText"],"additionalProperties":false})"},
    {"exec",
     "Runs a command line with sh in /workspace and answers with its output and exit code. Of a long output the beginning and the end are shown, "
     "and all of it is kept in a file that is named. There is no stdin.",
     R"({"type":"object","properties":{"command":{"type":"string","description":"line for sh -c"},"timeout":{"type":"integer","minimum":1,"maximum":3600,"description":"seconds, 120 if absent"}},"required":["command"],"additionalProperties":false})"},
};

const Words* Find(std::string_view name) {
  for (const Words& words : kWords) {
    if (words.name == name) return &words;
  }
  return nullptr;
}

// Fields of the model's object, each read at most once; the first error is kept.
class Arguments {
 public:
  Arguments(std::string_view text, std::vector<std::string> known) : value_(json::parse(text.empty() ? "{}" : text, nullptr, false)), known_(std::move(known)) {
    if (!value_.is_object()) error_ = "arguments: want a JSON object" + std::string(value_.is_discarded() ? ", got something that is no JSON" : "");
    if (!value_.is_object()) return;
    for (const auto& [key, unused] : value_.items()) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end() || !error_.empty()) continue;
      error_ = key.substr(0, 80) + ": no such field; known here: ";
      for (size_t i = 0; i < known_.size(); ++i) error_ += (i > 0 ? ", " : "") + known_[i];
    }
  }

  std::string Text(const char* key, bool required, size_t limit) {
    std::string text;
    if (!error_.empty()) return text;
    JsonObject object(value_, "", error_);
    if (required) {
      object.Need(key, text);
    } else {
      object.Read(key, text);
    }
    if (error_.empty() && text.size() > limit) {
      error_ = std::string(key) + ": want at most " + std::to_string(limit) + " bytes, got " + std::to_string(text.size());
    }
    return text;
  }

  // A path or a command: goes into a word of a command line.
  std::string Word(const char* key, size_t limit) {
    std::string text = Text(key, true, limit);
    if (!error_.empty()) return text;
    if (text.empty()) error_ = std::string(key) + ": is empty";
    if (text.find('\0') != std::string::npos) error_ = std::string(key) + ": can't hold a NUL byte";
    return text;
  }

  int64_t Number(const char* key, int64_t otherwise, int64_t low, int64_t high) {
    int64_t number = otherwise;
    if (!error_.empty()) return number;
    JsonObject(value_, "", error_).Read(key, number);
    if (error_.empty() && (number < low || number > high)) {
      error_ = std::string(key) + ": want an integer from " + std::to_string(low) + " to " + std::to_string(high) + ", got " + std::to_string(number);
    }
    return number;
  }

  bool Has(const char* key) const { return value_.is_object() && value_.contains(key) && !value_[key].is_null(); }
  std::vector<std::string> List(const char* key) {
    std::vector<std::string> list;
    if (error_.empty()) JsonObject(value_, "", error_).Read(key, list);
    return list;
  }
  Result<> Done() const { return error_.empty() ? Result<>() : Result<>(Fail(Code::kInvalid, error_)); }

 private:
  const json value_;
  const std::vector<std::string> known_;
  std::string error_;
};

constexpr size_t kMaxPath = 4000;
// The rest of a command's line and its NUL.
constexpr size_t kMaxCommand = BGE_MAX_ARG - 1;

void PlanPath(ToolPlan& plan, Arguments& arguments) {
  plan.path = arguments.Word("path", kMaxPath);
  plan.args = {"path=" + plan.path};
  plan.timeout = kFileTimeout;
}
}  // namespace

bool IsCoreTool(std::string_view name) { return Find(name) != nullptr; }
std::string_view CoreToolDescription(std::string_view name) { return Find(name) != nullptr ? Find(name)->description : std::string_view(); }
std::string_view CoreToolSchema(std::string_view name) { return Find(name) != nullptr ? Find(name)->schema : std::string_view(); }
std::string_view GrantedToolSchema() {
  return R"({"type":"object","properties":{"args":{"type":"array","items":{"type":"string"},"description":"its arguments, one word each, as on a command line"},"stdin":{"type":"string","description":"what it reads from stdin"}},"additionalProperties":false})";
}

Result<ToolPlan> PlanCoreTool(std::string_view name, std::string_view text) {
  ToolPlan plan;
  if (name == "read") {
    Arguments arguments(text, {"path", "offset", "limit"});
    PlanPath(plan, arguments);
    plan.offset = arguments.Number("offset", 1, 1, int64_t{1} << 50);
    const int64_t limit = arguments.Number("limit", kReadLines, 1, int64_t{1} << 50);
    BEIGE_TRY(arguments.Done());
    plan.args.push_back("offset=" + std::to_string(plan.offset));
    plan.args.push_back("limit=" + std::to_string(limit));
    plan.argv = {kSandboxProgram, "core", "read", plan.path, std::to_string(plan.offset), std::to_string(limit)};
  } else if (name == "write") {
    Arguments arguments(text, {"path", "content"});
    PlanPath(plan, arguments);
    plan.new_text = arguments.Text("content", true, kMaxFileText);
    BEIGE_TRY(arguments.Done());
    plan.args.push_back("content=" + plan.new_text);
    plan.argv = {kSandboxProgram, "core", "write", plan.path, std::to_string(plan.new_text.size())};
    plan.input = plan.new_text;
    plan.has_input = true;
  } else if (name == "patch") {
    Arguments arguments(text, {"path", "oldText", "newText"});
    PlanPath(plan, arguments);
    plan.old_text = arguments.Text("oldText", true, kMaxFileText);
    plan.new_text = arguments.Text("newText", true, kMaxFileText);
    BEIGE_TRY(arguments.Done());
    if (plan.old_text.empty()) return Fail(Code::kInvalid, "oldText: is empty; to make a file use write");
    if (plan.old_text == plan.new_text) return Fail(Code::kInvalid, "newText: is the same as oldText, so nothing would change");
    plan.args.push_back("oldText=" + plan.old_text);
    plan.args.push_back("newText=" + plan.new_text);
    plan.argv = {kSandboxProgram, "core", "patch", plan.path, std::to_string(plan.old_text.size()), std::to_string(plan.new_text.size())};
    plan.input = plan.old_text + plan.new_text;
    plan.has_input = true;
  } else {
    Arguments arguments(text, {"command", "timeout"});
    const std::string command = arguments.Word("command", kMaxCommand);
    const int64_t seconds = arguments.Number("timeout", kExecTimeout.count(), 1, kLongestExec.count());
    BEIGE_TRY(arguments.Done());
    plan.timeout = std::chrono::seconds(seconds);
    plan.args = {"command=" + command, "timeout=" + std::to_string(seconds)};
    plan.argv = {"sh", "-c", command};
  }
  return plan;
}

Result<ToolPlan> PlanGrantedTool(std::string_view text) {
  ToolPlan plan;
  Arguments arguments(text, {"args", "stdin"});
  plan.args = arguments.List("args");
  plan.has_input = arguments.Has("stdin");
  plan.input = arguments.Text("stdin", false, kMaxFileText);
  BEIGE_TRY(arguments.Done());
  size_t bytes = 0;
  for (size_t i = 0; i < plan.args.size(); ++i) {
    const std::string name = "args[" + std::to_string(i) + "]";
    if (plan.args[i].size() >= BGE_MAX_ARG) return Fail(Code::kInvalid, name + ": want at most " + std::to_string(kMaxCommand) + " bytes, got " + std::to_string(plan.args[i].size()) + "; pass it on stdin");
    if (plan.args[i].find('\0') != std::string::npos) return Fail(Code::kInvalid, name + ": can't hold a NUL byte");
    bytes += plan.args[i].size() + 8;
  }
  if (bytes > BGE_MAX_REQUEST / 2) return Fail(Code::kInvalid, "args: want at most " + std::to_string(BGE_MAX_REQUEST / 2) + " bytes together, got " + std::to_string(bytes) + "; pass the data on stdin");
  return plan;
}

ToolPlan PlanLog(std::string path, size_t bytes) {
  ToolPlan plan;
  plan.args = {"log=" + path};
  plan.argv = {kSandboxProgram, "core", "write", path, std::to_string(bytes)};
  plan.path = std::move(path);
  plan.has_input = true;
  plan.timeout = kFileTimeout;
  return plan;
}

}  // namespace beige::sessions
