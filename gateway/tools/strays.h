#ifndef BEIGE_GATEWAY_TOOLS_STRAYS_H_
#define BEIGE_GATEWAY_TOOLS_STRAYS_H_

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace beige {

// bubblewrap makes a cell with two processes: the outer one writes the uid map that the inner one waits for. Between its birth and that
// moment the inner one has no parent-death signal yet, so it waits for ever when the outer one is killed then. Hence both of these.

// SIGKILL to `pid`, a child of ours that is not reaped yet, and to its children, none of which can be born meanwhile.
void KillWithChildren(pid_t pid);

// Ends what a former gateway of this home left of cells: bubblewraps of our uid whose command line names a directory beneath `data_root`.
// For the start, before any cell is made. Returns how many there were.
size_t EndStrayCells(const std::string& data_root);

}  // namespace beige

#endif
