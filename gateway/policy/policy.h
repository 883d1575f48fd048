#ifndef BEIGE_GATEWAY_POLICY_POLICY_H_
#define BEIGE_GATEWAY_POLICY_POLICY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "api/admin.h"
#include "gateway/calls/call.h"

namespace beige {

struct Decision {
  bool allow = false;
  std::string_view rule;    // which rule decided: "tools", "exec", "coreTools", "model", "suspended"
  std::string_view reason;  // of a denial, for a person and the audit; both live as long as the policy
  int exit_code = 0;        // of a denial: 126, or 127 for a name that no configuration knows
};

// What one agent may do: an immutable value made of its grant and of the tools that are configured. Pure: no I/O, no clock.
//
// Deny by default. A tool is allowed when the grant lists it and the configuration knows it. Exec is for the owner and for holders of a
// token; never for what comes out of the agent's own socket. A core tool is for the agent's model (surfaces llm, channel, schedule) and
// allowed when the grant lists it; a model may be asked when it is one of the grant's choices. A suspended agent can do nothing.
class Policy {
 public:
  // Names that a hash set of string can be asked for without making a string.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Names = std::unordered_set<std::string, Hash, std::equal_to<>>;

  static std::shared_ptr<const Policy> Make(const admin::Grant& grant, std::shared_ptr<const Names> known_tools);

  Decision Decide(CallKind kind, Surface surface, std::string_view tool) const;
  static bool IsCoreTool(std::string_view name);
  int64_t generation() const { return generation_; }
  bool Knows(std::string_view tool) const { return known_->find(tool) != known_->end(); }

 private:
  Policy() = default;
  std::shared_ptr<const Names> known_;
  Decision DecideCoreTool(Surface surface, std::string_view tool) const;
  Names granted_;
  Names core_tools_;
  Names models_;
  std::string not_granted_;
  std::string no_core_tool_;
  std::string no_model_;
  std::string suspended_reason_;
  int64_t generation_ = 0;
  bool suspended_ = false;
};

}  // namespace beige

#endif
