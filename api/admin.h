#ifndef BEIGE_API_ADMIN_H_
#define BEIGE_API_ADMIN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/agent.h"
#include "api/agent_ref.h"
#include "base/result.h"

namespace beige::admin {

// The typed interface between operator (connects) and gateway (listens on run/admin.sock, 0600): one JSON object a line each way,
// at most kMaxLine bytes. Every message has "type". Nothing the gateway says makes the operator widen anything.

inline constexpr int kVersion = 1;
inline constexpr size_t kMaxLine = 64u << 20;  // a Sync of a thousand agents with the longest instructions

// What one agent may do; the gateway's whole knowledge of an Agent.
struct Grant {
  AgentRef agent;
  int64_t generation = 0;  // of the Agent's spec
  std::map<std::string, std::string> labels;
  std::string description;
  std::vector<std::string> tools;
  std::vector<std::string> skills;
  bool suspended = false;
  uint32_t sandbox_uid = 0;  // uid of the sandbox's processes, for files that the gateway shows or makes
  // A peer or a file of an earlier version has none of these: then all core tools, and no model.
  std::vector<std::string> core_tools{kCoreTools.begin(), kCoreTools.end()};
  std::vector<ModelChoice> model_choices;
  std::string instructions;
  bool operator==(const Grant&) const = default;
};

// --- operator -> gateway ---
struct Hello {            // first line of either side
  int min = kVersion;
  int max = kVersion;
  std::vector<std::string> features;
  std::string version;    // of the program
  bool operator==(const Hello&) const = default;
};
struct Sync {             // the complete set: grants that are not named are removed
  std::vector<Grant> grants;
  bool operator==(const Sync&) const = default;
};
struct Put {
  Grant grant;
  bool operator==(const Put&) const = default;
};
struct Remove {
  std::string uid;
  bool operator==(const Remove&) const = default;
};
struct Announce {         // one start is about to happen and the old container is gone: opens the registration window once
  std::string uid;
  std::string instance;   // env BEIGE_INSTANCE of the new container, echoed by its PID 1's HELLO (a claim)
  bool operator==(const Announce&) const = default;
};
struct Probe {            // make a round trip now
  std::string uid;
  bool operator==(const Probe&) const = default;
};

// --- gateway -> operator ---
struct InForce {          // answers Sync (one per grant) and Put, and comes again when a reload changes what a grant means
  std::string uid;
  int64_t generation = 0;
  std::vector<std::string> tools;           // granted, known and offered: these have launchers
  std::vector<std::string> unknown_tools;   // granted, but no such tool is configured
  std::vector<std::string> unknown_skills;
  std::map<std::string, std::string> unavailable_tools;  // tool -> why (its cell can't be made, bad manifest)
  std::map<std::string, std::string> unavailable_skills;  // skill -> why (its folder can't be copied)
  std::vector<std::string> unknown_models;                // chosen, but gateway.yaml has no such provider or model
  bool operator==(const InForce&) const = default;
};
struct Rejected {         // a grant that could not be put in force; what the former one allows as well stays
  std::string uid;
  int64_t generation = 0;
  std::string message;
  bool operator==(const Rejected&) const = default;
};
struct Removed {
  std::string uid;
  bool operator==(const Removed&) const = default;
};
struct Synced {           // after the last InForce/Rejected of a Sync
  int64_t count = 0;
  bool operator==(const Synced&) const = default;
};
struct Announced {        // answers Announce: the window is open, or why it can't be
  std::string uid;
  std::string instance;
  std::string message;    // "" = open
  bool operator==(const Announced&) const = default;
};
struct Registered {       // PID 1 of this sandbox holds the control channel (also sent for every live one after Synced)
  std::string uid;
  std::string instance;
  std::string version;    // of its beige-sandbox, a claim
  bool operator==(const Registered&) const = default;
};
struct Lost {             // the control channel ended
  std::string uid;
  bool operator==(const Lost&) const = default;
};
struct RoundTrip {        // result of a fresh connect by path from inside
  std::string uid;
  bool ok = false;
  int64_t micros = 0;
  std::string message;    // why not
  bool operator==(const RoundTrip&) const = default;
};

using ToGateway = std::variant<Hello, Sync, Put, Remove, Announce, Probe>;
using ToOperator = std::variant<Hello, InForce, Rejected, Removed, Synced, Announced, Registered, Lost, RoundTrip>;

// One line without its newline. Decoding is strict in types and lenient in unknown fields; an unknown "type" is NotFound, so that a
// newer peer's message can be skipped; anything malformed is Invalid.
std::string Encode(const ToGateway& message);
std::string Encode(const ToOperator& message);
Result<ToGateway> DecodeToGateway(std::string_view line);
Result<ToOperator> DecodeToOperator(std::string_view line);

// Grants are persisted by the gateway in this form.
std::string EncodeGrant(const Grant& grant);
Result<Grant> DecodeGrant(std::string_view json);

}  // namespace beige::admin

#endif
