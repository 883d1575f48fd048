#ifndef BEIGE_OPERATOR_SOURCE_READ_REGULAR_H_
#define BEIGE_OPERATOR_SOURCE_READ_REGULAR_H_

#include <cstddef>
#include <string>

#include "base/result.h"

namespace beige {

// Whole content of a regular file (links are followed). Never waits for a FIFO or a device that has the name: Invalid for anything
// that is not a regular file, and beyond `limit` bytes; NotFound, Denied as the kernel says.
Result<std::string> ReadRegular(const std::string& path, size_t limit);

}  // namespace beige

#endif
