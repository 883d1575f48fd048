#include "runtime/engine/api_version.h"

#include <algorithm>
#include <charconv>

namespace beige::runtime::engine {

std::string ApiVersion::Text() const { return std::to_string(major) + "." + std::to_string(minor); }

Result<ApiVersion> ParseApiVersion(std::string_view text) {
  ApiVersion version;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, version.major);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == '.') {
    const auto second = std::from_chars(first.ptr + 1, end, version.minor);
    if (second.ec == std::errc() && second.ptr == end && version.major >= 0 && version.minor >= 0) return version;
  }
  return Fail(Code::kInvalid, "API version: want MAJOR.MINOR such as 1.41, got \"" + std::string(text) + "\"");
}

Result<ApiVersion> NegotiateApi(std::string_view offered) {
  if (offered.empty()) {
    return Fail(Code::kUnavailable, "the engine does not name its API version (no Api-Version header in the answer to /_ping); is it a Docker or Podman socket?");
  }
  auto parsed = ParseApiVersion(offered);
  if (!parsed) return Fail(Code::kUnavailable, "header Api-Version of the engine: " + parsed.error().message);
  if (*parsed < kOldestApi) {
    return Fail(Code::kUnavailable, "the engine speaks API " + parsed->Text() + ", which is too old: want " + kOldestApi.Text() +
                                        " or newer (Docker 20.10, Podman 4); upgrade the engine");
  }
  return std::min(*parsed, kNewestApi);
}

}  // namespace beige::runtime::engine
