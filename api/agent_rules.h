#ifndef BEIGE_API_AGENT_RULES_H_
#define BEIGE_API_AGENT_RULES_H_

#include <string>
#include <string_view>

#include "api/problems.h"
#include "api/yaml_node.h"

namespace beige {

// Names of an agent and of a namespace, which become parts of paths.
bool IsAgentName(std::string_view name);
bool IsNamespace(std::string_view name);

// What the schema can't say: variables that Beige sets, mount points that belong to somebody, quantities. `spec` has passed the schema
// or its problems are known already; `path` is that of the spec.
void CheckSpecRules(const YamlNode& spec, const std::string& path, Problems& problems);

// Keys of labels, as Kubernetes has them: [prefix/]name, the prefix a DNS subdomain.
void CheckLabelKeys(const YamlNode& labels, const std::string& path, Problems& problems);

}  // namespace beige

#endif
