#ifndef BEIGE_GATEWAY_CONTROL_PEER_CHECK_H_
#define BEIGE_GATEWAY_CONTROL_PEER_CHECK_H_

#include "base/result.h"

namespace beige {

// Denied unless the peer of this Unix socket is process 1 of a pid namespace one level below our own, as /proc/<pid>/status NSpid shows.
// A peer whose pid is not visible here (0: another pid namespace beside ours, gVisor) passes: the key decides alone.
Result<> CheckPeerIsInit(int fd);

}  // namespace beige

#endif
