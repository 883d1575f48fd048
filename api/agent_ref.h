#ifndef BEIGE_API_AGENT_REF_H_
#define BEIGE_API_AGENT_REF_H_

#include <compare>
#include <string>

namespace beige {

// Names an agent without its incarnation: the key of queues, files and commands.
struct AgentKey {
  std::string namespace_;  // "default" for files without one
  std::string name;        // DNS label, 1-40 characters

  auto operator<=>(const AgentKey&) const = default;
  std::string ToString() const { return namespace_ + "/" + name; }
};

// Identity everywhere: delete and add again is a new uid, and nothing of the old one counts for the new.
struct AgentRef {
  std::string namespace_;
  std::string name;
  std::string uid;  // files: a stored random UUID; Kubernetes: metadata.uid

  auto operator<=>(const AgentRef&) const = default;
  AgentKey key() const { return {namespace_, name}; }
  std::string ToString() const { return namespace_ + "/" + name; }
};

}  // namespace beige

#endif
