#ifndef BEIGE_API_JSON_OBJECT_H_
#define BEIGE_API_JSON_OBJECT_H_

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace beige {

// Reads fields of one JSON object into typed variables: an absent field (or null) leaves the variable as it is, a wrong type is an
// error that names the path. The first error is kept in the string that all objects of one document share. Never throws.
class JsonObject {
 public:
  // `value` and `error` must outlive the object. A `value` that is not an object is an error.
  JsonObject(const nlohmann::json& value, std::string path, std::string& error);

  bool Has(const char* key) const;
  void Read(const char* key, std::string& out);
  void Read(const char* key, bool& out);
  void Read(const char* key, int64_t& out);
  void Read(const char* key, int& out);
  void Read(const char* key, uint32_t& out);
  void Read(const char* key, std::vector<std::string>& out);
  void Read(const char* key, std::map<std::string, std::string>& out);

  // The same, and absence is an error.
  template <typename T>
  void Need(const char* key, T& out) {
    if (Find(key) == nullptr) Fail(key, "is missing");
    Read(key, out);
  }

  std::optional<JsonObject> Object(const char* key);
  std::vector<JsonObject> Objects(const char* key);  // a list of objects; absent = empty

  // Records an error about field `key` unless there is one already.
  void Fail(std::string_view key, std::string_view what);

 private:
  const nlohmann::json* Find(const char* key) const;
  void Wrong(const char* key, const char* want, const nlohmann::json& got);
  bool ReadInteger(const char* key, int64_t low, int64_t high, const char* want, int64_t& out);

  const nlohmann::json* value_;
  std::string path_;
  std::string* error_;
};

}  // namespace beige

#endif
