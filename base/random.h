#ifndef BEIGE_BASE_RANDOM_H_
#define BEIGE_BASE_RANDOM_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace beige {

std::string RandomBytes(size_t n);
std::string RandomUuid();            // version 4, lower case
std::string RandomUlid();            // 26 characters, sorts by time of making; ids of calls
std::string RandomToken();           // 43 characters of URL-safe base64, 256 bits

std::string HexEncode(std::string_view bytes);
std::string Sha256Hex(std::string_view data);
std::string Base64Encode(std::string_view bytes);
Result<std::string> Base64Decode(std::string_view text);  // with padding, no white space; Invalid otherwise

// The first `n` (at most 52) characters of base32 (a-z2-7) of SHA-256 of `data`: short ids for directories and container names.
std::string ShortId(std::string_view data, size_t n);

}  // namespace beige

#endif
