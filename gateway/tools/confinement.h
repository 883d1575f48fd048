#ifndef BEIGE_GATEWAY_TOOLS_CONFINEMENT_H_
#define BEIGE_GATEWAY_TOOLS_CONFINEMENT_H_

#include <string>

#include "api/config.h"
#include "base/result.h"

namespace beige {

// What cells are made of on this machine: "namespaces, seccomp, Landlock 7", "namespaces, seccomp; no Landlock in this kernel", or
// "none: bubblewrap is not installed". `bwrap` is its path, "" = not found.
std::string DescribeConfinement(const std::string& bwrap);

// Unavailable, with what to do, when cells of at least `wanted` can't be made.
Result<> CheckConfinement(const std::string& bwrap, Confinement wanted);

// bwrap's path, looked up on PATH; "" = not found.
std::string FindBubblewrap();

}  // namespace beige

#endif
