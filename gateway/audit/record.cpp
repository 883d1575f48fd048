#include "gateway/audit/record.h"

#include "base/json_text.h"
#include "base/random.h"

namespace beige::audit {
namespace {
void AppendHead(std::string& out, const Stamp& stamp, std::string_view event) {
  out += R"({"v":1,"ts":")";
  out += stamp.time;
  out += R"(","seq":)";
  AppendUnsigned(out, stamp.seq);
  out += R"(,"id":")";
  out += stamp.id;
  out += R"(","event":")";
  out += event;
  out += '"';
}

void AppendAgent(std::string& out, const AgentRef& agent) {
  out += R"(,"namespace":)";
  AppendJsonString(out, agent.namespace_);
  out += R"(,"agent":)";
  AppendJsonString(out, agent.name);
  out += R"(,"agentUid":)";
  AppendJsonString(out, agent.uid);
}

void AppendText(std::string& out, std::string_view text, size_t limit = kMaxText) {
  if (text.size() <= limit) {
    AppendJsonString(out, text);
    return;
  }
  AppendJsonString(out, std::string(text.substr(0, limit)) + "...");
}

void AppendClaim(std::string& out, std::string_view claim) {
  if (claim.empty()) {
    out += "null";
  } else {
    AppendText(out, claim);
  }
}

void AppendArgs(std::string& out, const std::vector<std::string>& args) {
  size_t bytes = 0;
  for (const auto& arg : args) bytes += arg.size() + 1;
  if (bytes > kMaxArgBytes) {
    std::string joined;
    joined.reserve(bytes);
    for (const auto& arg : args) joined.append(arg).push_back('\0');
    out += R"({"cut":true,"bytes":)";
    AppendUnsigned(out, bytes);
    out += R"(,"sha256":")";
    out += Sha256Hex(joined);
    out += "\"}";
    return;
  }
  out += '[';
  for (size_t i = 0; i < args.size(); ++i) {
    if (i > 0) out += ',';
    AppendJsonString(out, args[i]);
  }
  out += ']';
}
}  // namespace

void AppendBegin(std::string& out, const Stamp& stamp, const BeginRecord& record) {
  const CallRequest& call = *record.request;
  AppendHead(out, stamp, "begin");
  AppendAgent(out, call.agent);
  out += R"(,"surface":")";
  out += SurfaceName(call.surface);
  out += R"(","actor":)";
  AppendText(out, call.actor);
  out += R"(,"kind":")";
  out += CallKindName(call.kind);
  out += R"(","tool":)";
  AppendText(out, call.tool);
  out += R"(,"args":)";
  AppendArgs(out, call.args);
  out += R"(,"session":)";
  AppendClaim(out, call.session_claim);
  out += R"(,"parent":null,"cwd":)";
  AppendClaim(out, call.cwd_claim);
  out += record.allowed ? R"(,"decision":"allow","rule":)" : R"(,"decision":"deny","rule":)";
  AppendText(out, record.rule);
  if (!record.allowed) {
    out += R"(,"reason":)";
    AppendText(out, record.reason);
  }
  out += R"(,"generation":)";
  AppendNumber(out, record.generation);
  out += "}\n";
}

void AppendEnd(std::string& out, const Stamp& stamp, const AgentRef& agent, std::string_view tool, const EndRecord& record) {
  AppendHead(out, stamp, "end");
  AppendAgent(out, agent);
  out += R"(,"tool":)";
  AppendText(out, tool, 100);
  out += R"(,"outcome":)";
  AppendText(out, record.outcome, 20);
  out += R"(,"durationUs":)";
  AppendNumber(out, record.duration_us);
  out += R"(,"exitCode":)";
  AppendNumber(out, record.exit_code);
  out += R"(,"signal":)";
  if (record.signal == 0) {
    out += "null";
  } else {
    AppendNumber(out, record.signal);
  }
  out += R"(,"stdinBytes":)";
  AppendUnsigned(out, record.stdin_bytes);
  out += R"(,"stdoutBytes":)";
  AppendUnsigned(out, record.stdout_bytes);
  out += R"(,"stderrBytes":)";
  AppendUnsigned(out, record.stderr_bytes);
  if (!record.error.empty()) {
    out += R"(,"error":)";
    // The reserve counts kMaxEndBytes for each end; escaping can make six bytes of one.
    AppendText(out, record.error, 120);
  }
  out += "}\n";
}

void AppendNote(std::string& out, const Stamp& stamp, std::string_view kind, const AgentRef* agent, std::string_view actor,
                std::string_view message) {
  AppendHead(out, stamp, "note");
  if (agent != nullptr) AppendAgent(out, *agent);
  out += R"(,"actor":)";
  AppendText(out, actor);
  out += R"(,"kind":)";
  AppendText(out, kind);
  out += R"(,"message":)";
  AppendText(out, message, 4 * kMaxText);
  out += "}\n";
}

void AppendContinues(std::string& out, const Stamp& stamp, std::string_view previous, uint64_t open_since) {
  AppendNote(out, stamp, "config", nullptr, "gateway", std::string("audit: continues ") + std::string(previous));
  out.resize(out.size() - 2);  // }\n
  out += R"(,"openSince":)";
  if (open_since == 0) {
    out += "null";
  } else {
    AppendUnsigned(out, open_since);
  }
  out += "}\n";
}

std::string_view TimeText::Of(SystemTime time) {
  const int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  if (ms / 1000 != second_ || text_.empty()) {
    second_ = ms / 1000;
    text_ = FormatTime(time);
  } else {
    const auto rest = static_cast<unsigned>(ms % 1000);
    char* digits = text_.data() + text_.size() - 4;  // "...123Z"
    digits[0] = static_cast<char>('0' + rest / 100);
    digits[1] = static_cast<char>('0' + rest / 10 % 10);
    digits[2] = static_cast<char>('0' + rest % 10);
  }
  return text_;
}

}  // namespace beige::audit
