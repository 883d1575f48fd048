#ifndef BEIGE_RUNTIME_ENGINE_JSON_READ_H_
#define BEIGE_RUNTIME_ENGINE_JSON_READ_H_

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace beige::runtime::engine {

// Reading of an engine's JSON, in which any field may be absent, null or (between engines) of another type: such a field is the empty
// value. What a sandbox must have is judged after reading (verify.h), where an empty value is a mismatch.
using Json = nlohmann::json;

const Json& At(const Json& object, std::string_view key);  // null when absent or `object` is no object
std::string Text(const Json& object, std::string_view key);
int64_t Integer(const Json& object, std::string_view key);  // a number beyond the range is the range's end
bool Flag(const Json& object, std::string_view key);
std::vector<std::string> Texts(const Json& object, std::string_view key);
std::map<std::string, std::string> TextMap(const Json& object, std::string_view key);
std::vector<std::string> Keys(const Json& object, std::string_view key);
size_t Count(const Json& object, std::string_view key);  // entries of an array or object

}  // namespace beige::runtime::engine

#endif
