#ifndef BEIGE_API_QUANTITY_H_
#define BEIGE_API_QUANTITY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace beige {

// Kubernetes quantities, in the forms that make sense for one sandbox. The message of an Invalid says what was wanted, without the
// value, so that it can follow "want ... , got ...".

// "1", "0.5", "500m", "1.5" as thousandths of a core; from 10m to 1024 cores.
Result<int64_t> ParseCpu(std::string_view text);
// "2Gi", "1.5Gi", "512M", "1073741824" as bytes; from 16Mi to 64Ti. "512m" (thousandths of a byte) is refused.
Result<int64_t> ParseMemory(std::string_view text);
// As ParseMemory, from `minimum` bytes: sizes of buffers and files.
Result<int64_t> ParseBytes(std::string_view text, int64_t minimum);

// The shortest form that reads back the same: 1500 -> "1500m", 2000 -> "2"; 2147483648 -> "2Gi".
std::string FormatCpu(int64_t millis);
std::string FormatBytes(int64_t bytes);

}  // namespace beige

#endif
