#include "cli/version.h"

#include <nlohmann/json.hpp>

#include "api/agent.h"
#include "cli/report.h"
#include "protocol/v2.h"

namespace beige::cli {

int RunVersion(const Globals& globals) {
  if (!globals.structured()) {
    PrintLine("beige " BEIGE_VERSION);
    return kDone;
  }
  const nlohmann::ordered_json out{{"version", BEIGE_VERSION}, {"apiVersion", kApiVersion}, {"protocol", {{"min", BGE_VERSION_MIN}, {"max", BGE_VERSION_MAX}}}};
  PrintStructured(globals, out.dump(2));
  return kDone;
}

}  // namespace beige::cli
