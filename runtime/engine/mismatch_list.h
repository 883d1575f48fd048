#ifndef BEIGE_RUNTIME_ENGINE_MISMATCH_LIST_H_
#define BEIGE_RUNTIME_ENGINE_MISMATCH_LIST_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/sandbox.h"

namespace beige::runtime::engine {

inline std::string Show(const std::string& value) { return value.empty() ? "none" : value; }
inline std::string Show(int64_t value) { return std::to_string(value); }
inline std::string Show(bool value) { return value ? "yes" : "no"; }
inline std::string Show(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& value : values) out += (out.empty() ? "" : " ") + value;
  return Show(out);
}
inline std::string Show(const std::map<std::string, std::string>& values) {
  std::string out;
  for (const auto& [name, value] : values) out += (out.empty() ? "" : " ") + name + "=" + value;
  return Show(out);
}

// Collects the fields that differ.
class MismatchList {
 public:
  template <typename T>
  void Expect(const std::string& field, const T& want, const T& have) {
    if (!(want == have)) list_.push_back({field, Show(want), Show(have)});
  }
  void ExpectNone(const std::string& field, const std::vector<std::string>& have) {
    if (!have.empty()) list_.push_back({field, "none", Show(have)});
  }
  void Add(std::string field, std::string want, std::string have) {
    list_.push_back({std::move(field), std::move(want), std::move(have)});
  }
  std::vector<Mismatch> Take() { return std::move(list_); }

 private:
  std::vector<Mismatch> list_;
};

}  // namespace beige::runtime::engine

#endif
