#ifndef BEIGE_RUNTIME_ENGINE_API_VERSION_H_
#define BEIGE_RUNTIME_ENGINE_API_VERSION_H_

#include <compare>
#include <string>
#include <string_view>

#include "base/result.h"

namespace beige::runtime::engine {

// Version of the Docker-compatible API, as in the path /v1.41/.
struct ApiVersion {
  int major = 0;
  int minor = 0;
  auto operator<=>(const ApiVersion&) const = default;
  std::string Text() const;  // "1.41"
};

// The newest whose answers this code has been written against, and the oldest that has what a hardened sandbox needs
// (cgroup namespace mode came with 1.41).
inline constexpr ApiVersion kNewestApi{1, 51};
inline constexpr ApiVersion kOldestApi{1, 41};

Result<ApiVersion> ParseApiVersion(std::string_view text);

// The version to speak with an engine that offers `offered` (header Api-Version of /_ping): the smaller of the two newest.
// Unavailable when the engine is too old or does not say.
Result<ApiVersion> NegotiateApi(std::string_view offered);

}  // namespace beige::runtime::engine

#endif
