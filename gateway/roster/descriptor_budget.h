#ifndef BEIGE_GATEWAY_ROSTER_DESCRIPTOR_BUDGET_H_
#define BEIGE_GATEWAY_ROSTER_DESCRIPTOR_BUDGET_H_

#include <cstddef>
#include <cstdint>

namespace beige {

// Below this many open files the gateway does not start: its own files and one agent would not fit.
inline constexpr int64_t kLeastFiles = 256;

// How many connections each agent's link may have, so that all agents at their limits together still leave room for the gateway's own
// files: at most `configured`, at least 4. `files` is the process's limit of open files, `cells` how many tool cells there are.
int64_t ConnectionsEach(int64_t configured, int64_t files, size_t agents, size_t cells);

}  // namespace beige

#endif
