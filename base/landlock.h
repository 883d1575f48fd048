#ifndef BEIGE_BASE_LANDLOCK_H_
#define BEIGE_BASE_LANDLOCK_H_

#include <string>

namespace beige {

// Version of the kernel's Landlock that a cell's runner can use; 0 = none (version 1 can't rename between directories, so it counts as none).
int LandlockVersion();

// What a cell misses with this version, for a person: "" from 6 on (Linux 6.12).
std::string LandlockLacks(int version);

}  // namespace beige

#endif
