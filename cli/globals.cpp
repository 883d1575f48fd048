#include "cli/globals.h"

#include "api/load.h"
#include "cli/report.h"

namespace beige::cli {

void PrintStructured(const Globals& globals, const std::string& json) {
  if (globals.output == Output::kYaml) {
    const std::string yaml = JsonToYaml(json);
    Print(yaml.ends_with('\n') ? yaml : yaml + "\n");
  } else {
    PrintLine(json);
  }
}

std::string AgentTitle(const AgentKey& key) {
  return "agent.beige.dev/" + (key.namespace_ == "default" ? key.name : key.namespace_ + "/" + key.name);
}

}  // namespace beige::cli
