#include "gateway/policy/policy.h"

#include <gtest/gtest.h>

namespace beige {
namespace {

admin::Grant GrantOf(std::vector<std::string> tools, bool suspended = false) {
  admin::Grant grant;
  grant.agent = {"default", "researcher", "u1"};
  grant.generation = 7;
  grant.tools = std::move(tools);
  grant.suspended = suspended;
  grant.core_tools = {"read", "exec"};
  grant.model_choices = {{"anthropic/sonnet", "off"}};
  return grant;
}

std::shared_ptr<const Policy::Names> Known(std::initializer_list<std::string> names) {
  return std::make_shared<const Policy::Names>(names);
}

struct Case {
  const char* name;
  std::vector<std::string> granted;
  bool suspended;
  CallKind kind;
  Surface surface;
  std::string tool;
  bool allow;
  std::string rule;
  int exit_code;
  std::string reason;
};

TEST(PolicyTest, DecidesAsTheTableSays) {
  const std::string not_granted = "denied by policy: not in tools of agent researcher";
  const std::string suspended = "denied by policy: agent researcher is suspended";
  const std::string no_exec = "denied by policy: exec is for the owner and for token holders";
  const std::string not_core = "denied by policy: core tools are for the agent's model";
  const std::string no_core = "denied by policy: not in coreTools of agent researcher";
  const std::string no_model = "denied by policy: not in model.choices of agent researcher";
  const Case cases[] = {
      {"granted and known", {"kv"}, false, CallKind::kTool, Surface::kSocket, "kv", true, "tools", 0, ""},
      {"granted, by http", {"kv"}, false, CallKind::kTool, Surface::kHttp, "kv", true, "tools", 0, ""},
      {"known, not granted", {"kv"}, false, CallKind::kTool, Surface::kSocket, "git", false, "tools", 126, not_granted},
      {"empty list calls nothing", {}, false, CallKind::kTool, Surface::kSocket, "kv", false, "tools", 126, not_granted},
      {"unknown name", {"kv"}, false, CallKind::kTool, Surface::kSocket, "nope", false, "tools", 127, "unknown tool"},
      {"granted, not configured", {"gone"}, false, CallKind::kTool, Surface::kSocket, "gone", false, "tools", 127, "unknown tool"},
      {"a prefix is another name", {"kv"}, false, CallKind::kTool, Surface::kSocket, "k", false, "tools", 127, "unknown tool"},
      {"case counts", {"kv"}, false, CallKind::kTool, Surface::kSocket, "KV", false, "tools", 127, "unknown tool"},
      {"a path is not a name", {"kv"}, false, CallKind::kTool, Surface::kSocket, "./kv", false, "tools", 127, "unknown tool"},
      {"suspended", {"kv"}, true, CallKind::kTool, Surface::kSocket, "kv", false, "suspended", 126, suspended},
      {"exec by the owner", {}, false, CallKind::kExec, Surface::kExec, "exec", true, "exec", 0, ""},
      {"exec by a token", {}, false, CallKind::kExec, Surface::kHttp, "exec", true, "exec", 0, ""},
      {"exec from the agent's socket", {"exec"}, false, CallKind::kExec, Surface::kSocket, "exec", false, "exec", 126, no_exec},
      {"exec from a channel", {}, false, CallKind::kExec, Surface::kChannel, "exec", false, "exec", 126, no_exec},
      {"exec of a suspended agent", {}, true, CallKind::kExec, Surface::kExec, "exec", false, "suspended", 126, suspended},
      {"a tool named exec is a tool", {"kv"}, false, CallKind::kTool, Surface::kSocket, "exec", false, "tools", 127, "unknown tool"},
      {"a core tool by the model", {}, false, CallKind::kCoreTool, Surface::kLlm, "read", true, "coreTools", 0, ""},
      {"a core tool by a channel", {}, false, CallKind::kCoreTool, Surface::kChannel, "exec", true, "coreTools", 0, ""},
      {"a core tool by a schedule", {}, false, CallKind::kCoreTool, Surface::kSchedule, "exec", true, "coreTools", 0, ""},
      {"a core tool that is not listed", {"write"}, false, CallKind::kCoreTool, Surface::kLlm, "write", false, "coreTools", 126, no_core},
      {"a granted tool is no core tool", {"kv"}, false, CallKind::kCoreTool, Surface::kLlm, "kv", false, "coreTools", 127, "unknown core tool"},
      {"a core tool is no granted tool", {}, false, CallKind::kTool, Surface::kLlm, "read", false, "tools", 127, "unknown tool"},
      {"a core tool from the agent's socket", {}, false, CallKind::kCoreTool, Surface::kSocket, "read", false, "coreTools", 126, not_core},
      {"a core tool by http", {}, false, CallKind::kCoreTool, Surface::kHttp, "read", false, "coreTools", 126, not_core},
      {"a core tool by the owner", {}, false, CallKind::kCoreTool, Surface::kExec, "read", false, "coreTools", 126, not_core},
      {"a core tool of a suspended agent", {}, true, CallKind::kCoreTool, Surface::kLlm, "read", false, "suspended", 126, suspended},
      {"a chosen model", {}, false, CallKind::kLlm, Surface::kLlm, "anthropic/sonnet", true, "model", 0, ""},
      {"another model", {"anthropic/opus"}, false, CallKind::kLlm, Surface::kLlm, "anthropic/opus", false, "model", 126, no_model},
      {"the model of a suspended agent", {}, true, CallKind::kLlm, Surface::kLlm, "anthropic/sonnet", false, "suspended", 126, suspended},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto policy = Policy::Make(GrantOf(c.granted, c.suspended), Known({"kv", "git"}));
    const Decision decision = policy->Decide(c.kind, c.surface, c.tool);
    EXPECT_EQ(decision.allow, c.allow);
    EXPECT_EQ(decision.rule, c.rule);
    EXPECT_EQ(decision.exit_code, c.exit_code);
    EXPECT_EQ(decision.reason, c.reason);
    EXPECT_EQ(policy->generation(), 7);
  }
}

TEST(PolicyTest, IsNotChangedByLaterChangesOfTheGrantItWasMadeOf) {
  admin::Grant grant = GrantOf({"kv"});
  const auto policy = Policy::Make(grant, Known({"kv", "git"}));
  grant.tools.push_back("git");
  EXPECT_FALSE(policy->Decide(CallKind::kTool, Surface::kSocket, "git").allow);
}

}  // namespace
}  // namespace beige
