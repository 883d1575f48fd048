#ifndef BEIGE_GATEWAY_TOOLS_CELL_RECIPE_H_
#define BEIGE_GATEWAY_TOOLS_CELL_RECIPE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/config.h"

namespace beige {

// Descriptors of the cell's first process.
inline constexpr int kCellSocketFd = 3;
inline constexpr int kCellPasswdFd = 4;
inline constexpr int kCellGroupFd = 5;
inline constexpr int kCellNsswitchFd = 6;
// With an owner: bubblewrap tells its child's pid on the one and waits on the other until the ids are mapped.
inline constexpr int kCellInfoFd = 7;
inline constexpr int kCellBlockFd = 8;

struct CellSpec {
  const ToolManifest* manifest = nullptr;
  std::string agent_name;
  std::string data_dir;        // host path, writable, at /data
  std::string workspace;       // host path, at /workspace as the manifest says
  std::string sandbox_binary;  // host path of beige-sandbox, at /beige/bin/beige-sandbox
  uint32_t uid = 0;  // of the tool
  uint32_t gid = 0;
  bool takes_ids = false;  // uid and gid are not ours: the cell is made as root of its namespace, and the runner takes them
};

// The bubblewrap command that makes a tool cell: own user, mount, pid, ipc, uts and network namespaces, /usr read-only and a minimal /etc,
// the tool's folder read-only at /tool, its data at /data, a private /scratch as working directory, no capability; process 1 is the
// runner, which speaks v2 on kCellSocketFd. Secrets are not in it: they go with each job, never on a command line.
std::vector<std::string> CellCommand(const std::string& bwrap, const CellSpec& spec);

std::string CellPasswd(uint32_t uid, uint32_t gid);
std::string CellGroup(uint32_t gid);
std::string CellNsswitch();

// `claim`, the directory that a caller in the sandbox says it is in, relative to the workspace; "." when that is elsewhere. What it leads
// to is for the runner to see.
std::string DirectoryInWorkspace(std::string_view claim);

// The manifest's command as it reads inside the cell: what lies in the tool's folder is at /tool there.
std::vector<std::string> CommandInCell(const ToolManifest& manifest);
// ${BEIGE_TOOL_DATA} and ${BEIGE_AGENT} filled in.
std::string FillIn(std::string_view value, std::string_view agent_name);

}  // namespace beige

#endif
