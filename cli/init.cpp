#include "cli/init.h"

#include <string_view>

#include "base/files.h"
#include "cli/report.h"
#include "cli/supervise/home_dirs.h"

namespace beige::cli {
namespace {
constexpr std::string_view kOperatorYaml = R"(# The operator holds the container engine. Everything here is optional; the values shown are the defaults.
# A saved change is taken up at once; `beige config check` says what is wrong with a file.
apiVersion: beige.dev/v1alpha1
kind: OperatorConfig

# engine:
#   type: auto              # auto | docker | podman
#   socket: /run/docker.sock
)";

constexpr std::string_view kGatewayYaml = R"(# The gateway holds policy, audit, tools and the HTTP API; it never sees the container engine.
# Everything here is optional; the values shown are the defaults.
apiVersion: beige.dev/v1alpha1
kind: GatewayConfig

# http:
#   listen: 127.0.0.1:7433  # port 0: any free one; `beige status` tells which
# metrics:
#   listen: 127.0.0.1:9433

# Tools are folders with a tool.yaml. One becomes a command of an agent when the agent's `tools` names it.
# tools:
#   kv: {path: ./tools/kv}

# Skills are folders with a SKILL.md, shown at /skills/<name>/ to the agents that name them.
# skills:
#   notes: {path: ./skills/notes}
)";

constexpr std::string_view kAgentExample = R"(# An Agent. Copy this file to hello.yaml, or run `beige apply -f agents.d/hello.yaml.example`, to bring it to life.
apiVersion: beige.dev/v1alpha1
kind: Agent
metadata:
  name: hello
spec:
  description: Says hello
  tools: []                 # deny by default: it can call only what is listed, e.g. [{name: kv}]
  sandbox:
    resources: {limits: {cpu: "1", memory: 512Mi}}
  egress: {mode: none}      # none | open
)";

constexpr std::string_view kToolExample = R"(# A tool: copy this folder to tools/kv, rename this file to tool.yaml, put an executable kv.py beside it, and name the folder in gateway.yaml.
name: kv
description: Keeps small values
usage:
  - kv set KEY VALUE
  - kv get KEY
command: [./kv.py]          # started directly, never through a shell; the caller's arguments follow
stdin: true
timeout: 30s
network: none
env: {KV_DIR: "${BEIGE_TOOL_DATA}"}
)";

struct File {
  std::string path;
  std::string_view content;
};
}  // namespace

int RunInit(const Globals& globals, const std::string& directory) {
  const HomePaths paths(directory.empty() ? globals.home : AbsolutePath("", directory));
  const File files[] = {
      {paths.OperatorYaml(), kOperatorYaml},
      {paths.GatewayYaml(), kGatewayYaml},
      {paths.AgentsDir() + "/hello.yaml.example", kAgentExample},
      {paths.home() + "/tools/kv.example/tool.yaml.example", kToolExample},
  };
  for (const auto& file : files) {
    if (Exists(file.path)) return Report("init", kFailed, file.path + ": exists already, so this is a home; nothing was changed");
  }
  if (const auto prepared = PrepareHome(paths); !prepared) return Report("init", prepared.error());
  if (const auto made = MakeDirs(paths.home() + "/tools/kv.example", 0700); !made) return Report("init", made.error());
  for (const auto& file : files) {
    if (const auto written = WriteFileAtomic(file.path, file.content, 0600); !written) return Report("init", written.error());
  }
  PrintLine("made the home " + paths.home());
  const std::string home = paths.home() == DefaultHome() ? "" : " --home " + paths.home();
  PrintLine("next: edit agents.d/hello.yaml.example and apply it, then start with 'beige up" + home + "'");
  return kDone;
}

}  // namespace beige::cli
