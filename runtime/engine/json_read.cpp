#include "runtime/engine/json_read.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace beige::runtime::engine {
namespace {
constexpr int kMaxDepth = 32;

bool DeeperThan(const Json& value, int levels) {
  if (!value.is_structured()) return false;
  if (levels == 0) return true;
  for (const Json& item : value) {
    if (DeeperThan(item, levels - 1)) return true;
  }
  return false;
}

// What an entry that should be text is instead. Printing recurses, so the depth is bounded first.
std::string Dump(const Json& item) { return DeeperThan(item, kMaxDepth) ? "(nested too deep)" : item.dump(); }
}  // namespace

const Json& At(const Json& object, std::string_view key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto it = object.find(std::string(key));
  return it == object.end() ? kNull : *it;
}

std::string Text(const Json& object, std::string_view key) {
  const Json& value = At(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

int64_t Integer(const Json& object, std::string_view key) {
  const Json& value = At(object, key);
  using Range = std::numeric_limits<int64_t>;
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number >= 0x1p63) return Range::max();
    return number <= -0x1p63 ? Range::min() : static_cast<int64_t>(number);  // JSON has no NaN
  }
  if (value.is_number_unsigned()) return static_cast<int64_t>(std::min<uint64_t>(value.get<uint64_t>(), Range::max()));
  return value.is_number() ? value.get<int64_t>() : 0;
}

bool Flag(const Json& object, std::string_view key) {
  const Json& value = At(object, key);
  return value.is_boolean() && value.get<bool>();
}

std::vector<std::string> Texts(const Json& object, std::string_view key) {
  std::vector<std::string> out;
  const Json& value = At(object, key);
  if (value.is_string()) out.push_back(value.get<std::string>());  // Podman gives a one-word entrypoint as a string
  if (!value.is_array()) return out;
  for (const Json& item : value) out.push_back(item.is_string() ? item.get<std::string>() : Dump(item));
  return out;
}

std::map<std::string, std::string> TextMap(const Json& object, std::string_view key) {
  std::map<std::string, std::string> out;
  const Json& value = At(object, key);
  if (!value.is_object()) return out;
  for (const auto& [name, item] : value.items()) out[name] = item.is_string() ? item.get<std::string>() : "";
  return out;
}

std::vector<std::string> Keys(const Json& object, std::string_view key) {
  std::vector<std::string> out;
  const Json& value = At(object, key);
  if (!value.is_object()) return out;
  for (const auto& [name, item] : value.items()) out.push_back(name);
  return out;
}

size_t Count(const Json& object, std::string_view key) {
  const Json& value = At(object, key);
  return value.is_structured() ? value.size() : 0;
}

}  // namespace beige::runtime::engine
