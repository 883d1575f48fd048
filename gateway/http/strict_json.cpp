#include "gateway/http/strict_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "api/suggest.h"

namespace beige {
namespace {
using nlohmann::json;
constexpr int kMaxDepth = 8;

tl::unexpected<BodyError> BadBody(std::string message) { return tl::make_unexpected(BodyError{"body: " + std::move(message), ""}); }

// nlohmann takes the last of two equal keys without a word; two readers that disagree on which counts are a hole.
struct Strictness {
  std::vector<std::set<std::string>> keys;
  std::string repeated;
  bool deep = false;

  bool operator()(int depth, json::parse_event_t event, json& value) {
    if (depth > kMaxDepth) deep = true;
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end && !keys.empty()) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.empty() && !keys.back().insert(value.get<std::string>()).second) repeated = value.get<std::string>();
    return true;
  }
};
}  // namespace

tl::unexpected<BodyError> BadField(std::string field, std::string message) {
  std::string text = field.substr(0, 100) + ": " + std::move(message);
  return tl::make_unexpected(BodyError{std::move(text), std::move(field)});
}

BodyResult<> ParseStrict(std::string_view text, const std::vector<std::string>& known, std::string_view example, json& out) {
  Strictness strictness;
  out = json::parse(text, std::ref(strictness), /*allow_exceptions=*/false);
  if (out.is_discarded()) return BadBody("want one JSON object in UTF-8, such as " + std::string(example));
  if (strictness.deep) return BadBody("nested deeper than " + std::to_string(kMaxDepth));
  if (!out.is_object()) return BadBody(std::string("want a JSON object, got ") + out.type_name());
  if (!strictness.repeated.empty()) return BadField(strictness.repeated, "is given twice");
  return CheckFields(out, known, "");
}

BodyResult<> CheckFields(const json& object, const std::vector<std::string>& known, const std::string& where) {
  for (const auto& [name, value] : object.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (const std::string near = Nearest(name, known); !near.empty()) return BadField(where + name, "no such field; did you mean " + near + "?");
    std::string all;
    for (const std::string& field : known) all += (all.empty() ? "" : ", ") + field;
    return BadField(where + name, known.empty() ? "no such field; none is known here" : "no such field; known here: " + all);
  }
  return {};
}

BodyResult<std::string> StringField(const json& object, const char* field) {
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) return std::string();
  if (!found->is_string()) return BadField(field, std::string("want a string, got ") + found->type_name());
  return found->get<std::string>();
}

BodyResult<bool> BoolField(const json& object, const char* field, bool absent) {
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) return absent;
  if (!found->is_boolean()) return BadField(field, std::string("want true or false, got ") + found->type_name());
  return found->get<bool>();
}

}  // namespace beige
