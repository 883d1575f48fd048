#include "gateway/control/registration.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/random.h"
#include "base/secret.h"

namespace beige {

Result<Registration> Registration::Load(std::string file) {
  Registration registration(std::move(file));
  BEIGE_ASSIGN(const auto text, ReadFileIfExists(registration.file_, 64 << 10));
  if (!text) return registration;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const bool good = json.is_object() && json.contains("digest") && json["digest"].is_string() && json.contains("instance") &&
                    json["instance"].is_string() && json.contains("window") && json["window"].is_boolean();
  if (!good) return Fail(Code::kInvalid, registration.file_ + ": not a key file; remove it and restart the sandbox");
  registration.digest_ = json["digest"].get<std::string>();
  registration.instance_ = json["instance"].get<std::string>();
  registration.window_open_ = json["window"].get<bool>();
  return registration;
}

Result<> Registration::Store(const std::string& digest, const std::string& instance, bool window_open) {
  const nlohmann::json json{{"digest", digest}, {"instance", instance}, {"window", window_open}};
  BEIGE_TRY(WriteFileAtomic(file_, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n", 0600));
  digest_ = digest;
  instance_ = instance;
  window_open_ = window_open;
  return {};
}

Result<> Registration::Open(const std::string& instance) { return Store("", instance, true); }

Result<> Registration::Admit(const std::string& key, const std::string& instance) {
  const std::string digest = Sha256Hex(key);
  if (window_open_) {
    // A container that was announced earlier and is still dying may dial too; it names another instance.
    if (!instance_.empty() && instance != instance_) {
      return Fail(Code::kDenied, "this start was not announced (instance \"" + instance.substr(0, 64) + "\")");
    }
    return Store(digest, instance_, false);
  }
  if (digest_.empty() || !Secret(digest_).EqualsConstantTime(digest)) {
    return Fail(Code::kDenied, "the control channel belongs to another process; only an announced start opens it");
  }
  return {};
}

}  // namespace beige
