#include "runtime/engine/unasked.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace beige::runtime::engine {

namespace {

// Read by DecodeContainer and judged in verify_inspect.cpp, but for ConsoleSize, which is of no meaning without a terminal.
constexpr std::array kRead{"Binds",        "CapAdd",       "CapDrop",   "CgroupnsMode",      "ConsoleSize",    "DeviceCgroupRules", "DeviceRequests",
                           "Devices",      "GroupAdd",     "Init",      "IpcMode",           "LogConfig",      "MaskedPaths",       "Memory",
                           "MemorySwap",   "Mounts",       "NanoCpus",  "NetworkMode",       "OomKillDisable", "OomScoreAdj",       "PidMode",
                           "PidsLimit",    "PortBindings", "Privileged", "PublishAllPorts",  "ReadonlyPaths",  "ReadonlyRootfs",    "RestartPolicy",
                           "Runtime",      "SecurityOpt",  "ShmSize",   "Sysctls",           "Tmpfs",          "UTSMode",           "Ulimits",
                           "UsernsMode",   "VolumesFrom"};

bool IsEmpty(const std::string& name, const Json& value) {
  if (value.is_null()) return true;
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value == 0 || (name == "MemorySwappiness" && value == -1);
  if (value.is_string()) return value == "" || (name == "Isolation" && value == "default");
  return value.empty();
}

}  // namespace

std::vector<std::string> UnaskedSettings(const Json& host_config) {
  std::vector<std::string> out;
  if (!host_config.is_object()) return out;
  for (const auto& [name, value] : host_config.items()) {
    if (std::find(kRead.begin(), kRead.end(), name) != kRead.end() || IsEmpty(name, value)) continue;
    out.push_back(name + "=" + value.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return out;
}

}  // namespace beige::runtime::engine
