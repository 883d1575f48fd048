// The strict converter and what loads files with it: never a crash, never a value together with a problem.
#include "api/load.h"
#include "api/yaml_reader.h"
#include "tests/fuzz/fuzz.h"

namespace {
using beige::fuzz::Hold;
using namespace beige;

size_t Count(const YamlNode& node, int depth) {
  Hold(depth <= 64, "no document is deeper than its bound");
  size_t count = 1;
  for (const auto& item : node.items) count += Count(item, depth + 1);
  for (const auto& field : node.fields) count += Count(field.value, depth + 1);
  return count;
}

std::optional<std::string> Env(const std::string& name) { return name == "HOME" ? std::optional<std::string>("/home") : std::nullopt; }
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const YamlStream stream = ReadYaml(text, "f.yaml");
  Hold(stream.problems.empty() || stream.documents.empty(), "a text that is wrong as a whole has no documents");
  for (const auto& document : stream.documents) {
    if (document.problems.empty()) Hold(Count(document.root, 0) <= 20001, "no document has more values than its bound");
  }
  switch (data[0] % 4) {
    case 0:
      for (const auto& loaded : LoadAgents(text, "f.yaml").agents) {
        Hold(loaded.agent.has_value() == loaded.problems.empty(), "an Agent is there when nothing is wrong with it, and only then");
        if (!loaded.agent) continue;
        const auto again = DecodeAgent(EncodeAgent(*loaded.agent));
        Hold(again.has_value() && EncodeSpec(again->spec) == EncodeSpec(loaded.agent->spec), "an Agent survives its way through JSON");
        Hold(ContainerSpecHash(again->spec) == ContainerSpecHash(loaded.agent->spec), "and so does its hash");
      }
      break;
    case 1: {
      const auto loaded = LoadGatewayConfig(text, "f.yaml", Env);
      Hold(loaded.value.has_value() == loaded.problems.empty(), "a configuration is there when nothing is wrong with it, and only then");
      break;
    }
    case 2: {
      const auto loaded = LoadOperatorConfig(text, "f.yaml", Env);
      Hold(loaded.value.has_value() == loaded.problems.empty(), "a configuration is there when nothing is wrong with it, and only then");
      break;
    }
    default: {
      const auto loaded = LoadToolManifest(text, "/nonexistent/tool.yaml", Env);
      Hold(loaded.value.has_value() == loaded.problems.empty(), "a manifest is there when nothing is wrong with it, and only then");
    }
  }
  return 0;
}
