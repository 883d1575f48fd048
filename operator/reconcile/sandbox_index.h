#ifndef BEIGE_OPERATOR_RECONCILE_SANDBOX_INDEX_H_
#define BEIGE_OPERATOR_RECONCILE_SANDBOX_INDEX_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/agent_ref.h"
#include "base/guarded.h"
#include "runtime/sandbox.h"

namespace beige {

// Which containers are whose, so that one look at one agent need not list them all; and whether the engine answers. Only ids are
// remembered, never state: that is asked for anew at each look. Thread-safe.
class SandboxIndex {
 public:
  struct Engine {
    bool asked = false;  // whether there was any answer, or none in time, since this process began
    bool up = false;
    std::string message = "the engine was not asked yet";
    runtime::EngineInfo info;
  };

  Engine engine() const;
  bool SetUp(const runtime::EngineInfo& info);     // true if it was down
  bool SetDown(const std::string& message);        // true if it was up, or the first word

  std::vector<std::string> Ids(const std::string& uid) const;
  std::optional<std::string> OwnerOf(const std::string& id) const;  // uid
  void Add(const std::string& uid, const std::string& id);
  void Drop(const std::string& uid, const std::string& id);

  // After a complete list. Returns the agents whose containers differ from what the list before showed.
  std::set<AgentKey> Replace(const std::vector<runtime::Observed>& all);

  // The settings of this incarnation's container may have been changed: verify once more. "" = of all.
  void Suspect(const std::string& uid);
  bool TakeSuspicion(const std::string& uid);

 private:
  struct State {
    Engine engine;
    std::map<std::string, std::set<std::string>> ids;  // uid -> containers
    std::map<std::string, runtime::Observed> listed;   // container -> as last listed
    std::set<std::string> suspects;
  };
  Guarded<State> state_;
};

}  // namespace beige

#endif
