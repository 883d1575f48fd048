#include "api/json_object.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace beige {

using nlohmann::json;

namespace {

std::string Shown(const json& value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

}  // namespace

JsonObject::JsonObject(const json& value, std::string path, std::string& error) : value_(&value), path_(std::move(path)), error_(&error) {
  if (!value.is_object()) {
    if (error_->empty()) *error_ = (path_.empty() ? "" : path_ + ": ") + "want an object, got " + Shown(value);
    value_ = nullptr;
  }
}

const json* JsonObject::Find(const char* key) const {
  if (value_ == nullptr) return nullptr;
  const auto found = value_->find(key);
  return found == value_->end() || found->is_null() ? nullptr : &*found;
}

bool JsonObject::Has(const char* key) const { return Find(key) != nullptr; }

void JsonObject::Fail(std::string_view key, std::string_view what) {
  if (!error_->empty()) return;
  *error_ = (path_.empty() ? "" : path_ + ".") + std::string(key) + ": " + std::string(what);
}

void JsonObject::Wrong(const char* key, const char* want, const json& got) { Fail(key, std::string("want ") + want + ", got " + Shown(got)); }

void JsonObject::Read(const char* key, std::string& out) {
  if (const json* field = Find(key)) {
    if (!field->is_string()) return Wrong(key, "a string", *field);
    out = field->get_ref<const std::string&>();
  }
}

void JsonObject::Read(const char* key, bool& out) {
  if (const json* field = Find(key)) {
    if (!field->is_boolean()) return Wrong(key, "true or false", *field);
    out = field->get<bool>();
  }
}

bool JsonObject::ReadInteger(const char* key, int64_t low, int64_t high, const char* want, int64_t& out) {
  const json* field = Find(key);
  if (field == nullptr) return false;
  const bool fits = field->is_number_unsigned() ? field->get<uint64_t>() <= static_cast<uint64_t>(high)
                                                : field->is_number_integer() && field->get<int64_t>() <= high;
  if (!fits || field->get<int64_t>() < low) {
    Wrong(key, want, *field);
    return false;
  }
  out = field->get<int64_t>();
  return true;
}

void JsonObject::Read(const char* key, int64_t& out) {
  ReadInteger(key, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), "an integer", out);
}

void JsonObject::Read(const char* key, int& out) {
  int64_t wide = 0;
  if (ReadInteger(key, std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), "an integer of 32 bits", wide)) out = static_cast<int>(wide);
}

void JsonObject::Read(const char* key, uint32_t& out) {
  int64_t wide = 0;
  if (ReadInteger(key, 0, std::numeric_limits<uint32_t>::max(), "an integer from 0 to 4294967295", wide)) out = static_cast<uint32_t>(wide);
}

void JsonObject::Read(const char* key, std::vector<std::string>& out) {
  const json* field = Find(key);
  if (field == nullptr) return;
  if (!field->is_array()) return Wrong(key, "a list of strings", *field);
  std::vector<std::string> items;
  for (const json& item : *field) {
    if (!item.is_string()) return Wrong(key, "a list of strings", *field);
    items.push_back(item.get_ref<const std::string&>());
  }
  out = std::move(items);
}

void JsonObject::Read(const char* key, std::map<std::string, std::string>& out) {
  const json* field = Find(key);
  if (field == nullptr) return;
  if (!field->is_object()) return Wrong(key, "a map of strings", *field);
  std::map<std::string, std::string> items;
  for (const auto& [name, item] : field->items()) {
    if (!item.is_string()) return Wrong(key, "a map of strings", *field);
    items[name] = item.get_ref<const std::string&>();
  }
  out = std::move(items);
}

std::optional<JsonObject> JsonObject::Object(const char* key) {
  const json* field = Find(key);
  if (field == nullptr) return std::nullopt;
  return JsonObject(*field, path_.empty() ? key : path_ + "." + key, *error_);
}

std::vector<JsonObject> JsonObject::Objects(const char* key) {
  const json* field = Find(key);
  if (field == nullptr) return {};
  std::vector<JsonObject> objects;
  if (!field->is_array()) {
    Wrong(key, "a list of objects", *field);
    return objects;
  }
  for (size_t i = 0; i < field->size(); ++i) {
    objects.emplace_back((*field)[i], (path_.empty() ? "" : path_ + ".") + key + "[" + std::to_string(i) + "]", *error_);
  }
  return objects;
}

}  // namespace beige
