#ifndef BEIGE_GATEWAY_HTTP_STRICT_JSON_H_
#define BEIGE_GATEWAY_HTTP_STRICT_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace beige {

struct BodyError {
  std::string message;
  std::string field;  // "" = the body as a whole
};
template <typename T = void>
using BodyResult = tl::expected<T, BodyError>;

tl::unexpected<BodyError> BadField(std::string field, std::string message);  // `message` is put behind "FIELD: "

// One JSON object. An unknown or repeated field, a list in a list in a list ... (8 deep) and bytes that are not UTF-8 are errors.
// `example` is shown to who sends something else.
BodyResult<> ParseStrict(std::string_view text, const std::vector<std::string>& known, std::string_view example, nlohmann::json& out);
BodyResult<> CheckFields(const nlohmann::json& object, const std::vector<std::string>& known, const std::string& where);

// Absent and null are one: "" and `absent`.
BodyResult<std::string> StringField(const nlohmann::json& object, const char* field);
BodyResult<bool> BoolField(const nlohmann::json& object, const char* field, bool absent);

}  // namespace beige

#endif
