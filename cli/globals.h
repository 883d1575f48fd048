#ifndef BEIGE_CLI_GLOBALS_H_
#define BEIGE_CLI_GLOBALS_H_

#include <string>

#include "api/paths.h"

namespace beige::cli {

enum class Output { kTable, kWide, kJson, kYaml, kName };

// The options that every command shares.
struct Globals {
  std::string home;  // absolute
  std::string namespace_ = "default";
  bool namespace_given = false;
  bool all_namespaces = false;
  Output output = Output::kTable;

  HomePaths paths() const { return HomePaths(home); }
  AgentKey Key(const std::string& name) const { return {namespace_, name}; }
  bool structured() const { return output == Output::kJson || output == Output::kYaml; }
};

// Prints JSON text as JSON (indented by the caller) or as YAML, as `globals.output` says.
void PrintStructured(const Globals& globals, const std::string& json);

// Name for output and messages: agent.beige.dev/a1, with the namespace in front unless it is the default one.
std::string AgentTitle(const AgentKey& key);

}  // namespace beige::cli

#endif
