#include "gateway/sessions/tool_runner.h"

#include <algorithm>
#include <utility>

#include "gateway/sessions/core_tools.h"
#include "gateway/sessions/core_tools_answer.h"
#include "gateway/sessions/core_tools_output.h"

namespace beige::sessions {
namespace {
// An image and the line before it.
constexpr size_t kMaxAnswer = (5u << 20) + 1024;
constexpr size_t kMaxDescription = 4096;

std::string DescriptionOf(const ToolManifest& tool) {
  std::string text = tool.description;
  for (const std::string& line : tool.usage) text += (text.empty() ? "" : "\n") + line;
  text += (text.empty() ? "" : "\n") + std::string("In exec it is the command ") + tool.name + ".";
  if (text.size() <= kMaxDescription) return ToUtf8(text);
  return ToUtf8(text.substr(0, kMaxDescription)) + "...";
}
}  // namespace

// One call of a model: one call of CallService, and another one when a long output is kept in a file.
class ToolRunner::Running final : public CallSink {
 public:
  Running(ToolRunner& runner, Id id, Call call, std::function<void(int, std::string_view)> on_output, std::function<void(ToolOutcome)> on_done)
      : runner_(runner),
        id_(id),
        call_(std::move(call)),
        core_(IsCoreTool(call_.call.name)),
        on_output_(std::make_shared<const std::function<void(int, std::string_view)>>(std::move(on_output))),
        on_done_(std::move(on_done)),
        output_(runner.GatherOf(call_.agent.uid)) {
    Later(&Running::Begin);
  }
  ~Running() override {
    if (running_ != 0) runner_.calls_.Cancel(running_);
  }

 private:
  bool IsCommand() const { return !core_ || call_.call.name == "exec"; }

  void Later(void (Running::*what)()) {
    runner_.loop_.Post([this, what, alive = std::weak_ptr<bool>(alive_)] {
      if (!alive.expired()) (this->*what)();
    });
  }

  void Begin() {
    CallRequest request = Request();
    auto plan = core_ ? PlanCoreTool(call_.call.name, call_.call.arguments) : PlanGrantedTool(call_.call.arguments);
    if (plan) {
      plan_ = std::move(*plan);
      request.args = plan_.args;
      request.argv = plan_.argv;
      request.timeout = plan_.timeout;
      request.stdin_open = plan_.has_input;
      input_ = plan_.input;
    } else {
      request.args = {"arguments=" + call_.call.arguments};
      request.unfit = plan.error().message;
    }
    Start(std::move(request));
  }

  CallRequest Request() const {
    CallRequest request;
    request.agent = call_.agent;
    request.surface = Surface::kLlm;
    request.kind = core_ ? CallKind::kCoreTool : CallKind::kTool;
    request.tool = call_.call.name;
    request.session_claim = call_.session;
    return request;
  }

  void Start(CallRequest request) {
    credit_ = BGE_WINDOW_INITIAL;
    eof_ = !request.stdin_open;
    const auto id = runner_.calls_.Start(std::move(request), this);
    if (ended_) return;  // refused at once
    running_ = id;
    Pump();
  }

  void Pump() {
    if (running_ == 0 || eof_) return;
    const size_t size = std::min<size_t>(credit_, input_.size());
    if (size > 0) {
      credit_ -= static_cast<uint32_t>(size);
      const std::string_view part = input_.substr(0, size);
      input_.remove_prefix(size);
      runner_.calls_.Stdin(running_, part);
    }
    if (running_ == 0 || !input_.empty()) return;
    eof_ = true;
    runner_.calls_.StdinEof(running_);
  }

  void OnOutput(uint8_t stream, std::string_view bytes) override {
    runner_.calls_.Credit(running_, stream, static_cast<uint32_t>(bytes.size()));
    if (keeping_) return;
    if (!IsCommand()) {
      std::string& answer = stream == 1 ? answer_ : error_;
      answer.append(bytes.substr(0, kMaxAnswer - std::min(kMaxAnswer, answer.size())));
      return;
    }
    output_.Add(bytes);
    Show(stream, utf8_[stream == 1 ? 0 : 1].Feed(bytes));  // may destroy this
  }
  void OnStdinCredit(uint32_t bytes) override {
    credit_ += bytes;
    Pump();
  }
  void OnExit(const CallResult& result) override {
    running_ = 0;
    ended_ = true;
    result_ = result;
    Later(keeping_ ? &Running::Kept : &Running::Ended);
  }

  void Show(int stream, const std::string& text) {
    const auto show = on_output_;
    if (!text.empty() && *show) (*show)(stream, text);
  }

  void Ended() {
    if (!IsCommand()) return Finish(FileAnswer());
    const std::weak_ptr<bool> alive = alive_;
    for (const int stream : {1, 2}) {
      Show(stream, utf8_[stream - 1].End());
      if (alive.expired()) return;
    }
    if (output_.Fits()) return Finish(CommandAnswer(result_, output_.Shown("")));
    if (result_.how == BGE_HOW_LOST) return Finish(CommandAnswer(result_, output_.Shown("the sandbox ended, so the rest is gone")));
    // As another call, so that no file is written in the sandbox that is not in the audit.
    keeping_ = true;
    ended_ = false;
    command_ = result_;
    plan_ = PlanLog(runner_.NextLog(call_.agent.uid), output_.gathered().size());
    input_ = output_.gathered();
    CallRequest request = Request();
    request.kind = CallKind::kCoreTool;
    request.tool = "exec";
    request.args = plan_.args;
    request.argv = plan_.argv;
    request.timeout = plan_.timeout;
    request.stdin_open = true;
    Start(std::move(request));
  }

  void Kept() {
    std::string where = "all of it is in " + plan_.path;
    if (output_.bytes() > output_.gathered().size()) where = "the first " + std::to_string(output_.gathered().size()) + " are in " + plan_.path;
    if (result_.how != BGE_HOW_EXITED || result_.code != 0) where = "the rest could not be kept, so ask for less";
    Finish(CommandAnswer(command_, output_.Shown(where)));
  }

  ToolOutcome FileAnswer() const {
    if (result_.how != BGE_HOW_EXITED || result_.code != 0) return FailedAnswer(result_, error_);
    if (call_.call.name == "read") return ReadAnswer(plan_, answer_);
    return call_.call.name == "write" ? WriteAnswer(plan_, answer_) : PatchAnswer(plan_, answer_);
  }

  void Finish(ToolOutcome outcome) {
    const auto done = std::move(on_done_);
    runner_.running_.erase(id_);  // destroys this
    done(std::move(outcome));
  }

  ToolRunner& runner_;
  const Id id_;
  const Call call_;
  const bool core_;
  std::shared_ptr<const std::function<void(int, std::string_view)>> on_output_;
  std::function<void(ToolOutcome)> on_done_;
  ToolPlan plan_;
  CallService::Id running_ = 0;
  bool ended_ = false;
  bool keeping_ = false;  // the output, in a file
  CallResult result_;
  CallResult command_;    // while its output is kept
  std::string_view input_;
  uint32_t credit_ = 0;
  bool eof_ = true;
  std::string answer_;
  std::string error_;
  Output output_;
  Utf8Stream utf8_[2];
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

ToolRunner::ToolRunner(Loop& loop, CallService& calls) : loop_(loop), calls_(calls) {}
ToolRunner::~ToolRunner() = default;

std::vector<llm::Tool> ToolRunner::Offered(const std::vector<std::string>& core_tools, const std::vector<std::shared_ptr<const ToolManifest>>& tools) {
  std::vector<llm::Tool> offered;
  for (const std::string& name : core_tools) {
    if (IsCoreTool(name)) offered.push_back({name, std::string(CoreToolDescription(name)), std::string(CoreToolSchema(name))});
  }
  for (const auto& tool : tools) {
    if (IsCoreTool(tool->name) || !llm::IsToolName(tool->name)) continue;
    offered.push_back({tool->name, DescriptionOf(*tool), std::string(GrantedToolSchema())});
  }
  return offered;
}

ToolRunner::Id ToolRunner::Run(Call call, std::function<void(int, std::string_view)> on_output, std::function<void(ToolOutcome)> on_done) {
  const Id id = ++last_;
  running_.emplace(id, std::make_unique<Running>(*this, id, std::move(call), std::move(on_output), std::move(on_done)));
  return id;
}

std::shared_ptr<size_t> ToolRunner::GatherOf(const std::string& agent_uid) {
  std::shared_ptr<size_t>& left = gather_[agent_uid];
  if (!left) left = std::make_shared<size_t>(kGathered);
  return left;
}

std::string ToolRunner::NextLog(const std::string& agent_uid) { return "/tmp/beige-exec-" + std::to_string(logs_[agent_uid]++ % kLogs + 1) + ".log"; }

void ToolRunner::Cancel(Id id) { running_.erase(id); }

}  // namespace beige::sessions
