#ifndef BEIGE_OPERATOR_RECONCILE_SPEC_BUILDER_H_
#define BEIGE_OPERATOR_RECONCILE_SPEC_BUILDER_H_

#include <map>
#include <string>

#include "api/config.h"
#include "api/paths.h"
#include "operator/store/identity_store.h"
#include "runtime/sandbox.h"

namespace beige {

// beige-<first 4 of the home>-<first 8 of the uid>-<agent>
std::string ContainerName(const std::string& home_id, const AgentRef& agent);

// Whose links count on the way to what is mounted: those up to here are the administrator's, what lies beneath is shaped by the gateway
// and by agents. See runtime::Mount::root.
std::string SourceRoot(const HomePaths& paths, runtime::MountKind kind, const std::string& source);

struct SpecContext {
  std::string home_id;
  std::string bin_dir;   // published beige-sandbox
  std::string instance;
  std::string image;     // id
  std::map<std::string, std::string> volume_sources;
};

// The whole container that an Agent asks for. Pure.
runtime::SandboxSpec BuildSandboxSpec(const Identity& identity, const OperatorConfig& config, const HomePaths& paths, const SpecContext& context);

}  // namespace beige

#endif
