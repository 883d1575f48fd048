#ifndef BEIGE_CLI_SUPERVISE_GATEWAY_VIEW_H_
#define BEIGE_CLI_SUPERVISE_GATEWAY_VIEW_H_

#include <string>
#include <utility>
#include <vector>

#include "api/load.h"
#include "api/paths.h"
#include "base/result.h"
#include "base/user_namespace.h"

namespace beige::cli {

// What the gateway sees of the machine when bubblewrap starts it: everything read-only, its own directories of the home writable, and an
// empty directory where an engine's socket lies, or where programs of its user have theirs: a read-only mount hinders no connect.
struct GatewayView {
  std::string home;                    // real path
  std::vector<std::string> writable;   // real paths
  std::vector<std::string> guarded;    // files in those that are not the gateway's
  std::vector<std::string> masked;     // directories of engine sockets, real paths
  std::vector<std::string> masked_ids; // of the same, as the file system knows them: one that is made anew is no longer masked
  std::vector<std::string> hidden;     // where other programs of this user listen, real paths: empty directories, and nothing to write
  std::vector<std::string> kept;       // stay visible (read-only) though a masked or hidden directory holds them
  std::vector<std::pair<std::string, std::string>> links;  // in a hidden directory, to what is named by them: path and where it leads
  bool as_root = false;                // the effective uid is 0
  // What the gateway's user namespace knows: root, which around it is a uid of the gateway's own (see mapped_exec.h) or else root itself,
  // and the uids of agents; empty = its own uid only.
  std::vector<IdMap> ids;
  std::vector<std::string> mapped;     // for a uid of its own: the directories, real paths, that are root's on disk and the gateway's in its view
  bool operator==(const GatewayView&) const = default;
};

// Reads the home's configuration and the machine. Invalid when an engine socket lies where it can't be masked without hiding what the
// gateway needs; the text says why.
Result<GatewayView> DescribeGatewayView(const HomePaths& paths, const EnvLookup& env);

// The same for a gateway that stays root: where the kernel or a file system knows no idmapped mounts.
GatewayView AsRoot(GatewayView view);
// True when root in the view is a uid of the gateway's own around it.
bool HasOwnUid(const GatewayView& view);

// The whole command that makes the view, up to and including `--`; `more` are further arguments for bubblewrap.
std::vector<std::string> ViewCommand(const GatewayView& view, const std::vector<std::string>& more = {});

// Arguments of bubblewrap up to and including `--` and, for root, what seals the devices; the program follows. Mounts go from the root down, so that the innermost wins.
std::vector<std::string> BubblewrapArguments(const GatewayView& view);

// True when `path` is `directory` or lies beneath it; both absolute and normal.
bool IsWithin(const std::string& path, const std::string& directory);

}  // namespace beige::cli

#endif
