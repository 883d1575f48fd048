#include "cli/processes.h"

#include <nlohmann/json.hpp>

#include "base/files.h"

namespace beige::cli {
namespace {
using nlohmann::json;
constexpr size_t kMaxInfo = 16u << 20;

std::optional<json> ReadObject(const std::string& path) {
  const auto text = ReadRegular(path, kMaxInfo);  // the gateway may write there
  if (!text) return std::nullopt;
  json value = json::parse(*text, nullptr, false);
  if (!value.is_object()) return std::nullopt;
  return value;
}

std::string Text(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

int Number(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number_integer() ? it->get<int>() : 0;
}

// Problems are texts, or objects with a `message`.
std::vector<std::string> Texts(const json& object, const char* key) {
  std::vector<std::string> texts;
  const auto it = object.find(key);
  if (it == object.end() || !it->is_array()) return texts;
  for (const auto& entry : *it) {
    if (entry.is_string()) texts.push_back(entry.get<std::string>());
    if (entry.is_object()) texts.push_back(Text(entry, "file") + (entry.contains("file") ? ": " : "") + Text(entry, "message"));
  }
  return texts;
}
}  // namespace

std::optional<GatewayInfo> ReadGatewayInfo(const HomePaths& paths) {
  const auto object = ReadObject(paths.GatewayInfo());
  if (!object) return std::nullopt;
  return GatewayInfo{Number(*object, "pid"), Text(*object, "version"), Number(*object, "httpPort"), Number(*object, "metricsPort"),
                     Texts(*object, "problems"), Text(*object, "cells")};
}

std::optional<OperatorInfo> ReadOperatorInfo(const HomePaths& paths) {
  const auto object = ReadObject(paths.OperatorInfo());
  if (!object) return std::nullopt;
  OperatorInfo info;
  info.pid = Number(*object, "pid");
  info.version = Text(*object, "version");
  info.metrics_port = Number(*object, "metricsPort");
  if (const auto engine = object->find("engine"); engine != object->end() && engine->is_object()) {
    info.engine_type = Text(*engine, "type");
    info.engine_version = Text(*engine, "version");
    info.engine_api = Text(*engine, "api");
    info.engine_socket = Text(*engine, "socket");
    info.engine_state = Text(*engine, "state");
  }
  const auto copied = object->find("homeCopied");
  info.copied = copied != object->end() && copied->is_boolean() && copied->get<bool>();
  info.notice = Text(*object, "notice");
  info.problems = Texts(*object, "problems");
  return info;
}

std::optional<SupervisorInfo> ReadSupervisorInfo(const HomePaths& paths) {
  const auto object = ReadObject(paths.SupervisorInfo());
  if (!object) return std::nullopt;
  return SupervisorInfo{Number(*object, "pid"),        Text(*object, "privilegeSplit"), Text(*object, "privilegeReason"),
                        Number(*object, "gatewayPid"), Number(*object, "operatorPid"),  Text(*object, "startTime")};
}

std::string EncodeSupervisorInfo(const SupervisorInfo& info) {
  nlohmann::ordered_json object{{"pid", info.pid}, {"privilegeSplit", info.privilege_split}};
  if (!info.privilege_reason.empty()) object["privilegeReason"] = info.privilege_reason;
  object["gatewayPid"] = info.gateway_pid;
  object["operatorPid"] = info.operator_pid;
  object["startTime"] = info.start_time;
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

bool IsRunning(pid_t pid, const std::string& name) {
  if (pid <= 0) return false;
  const auto comm = ReadFile("/proc/" + std::to_string(pid) + "/comm");
  if (!comm || *comm != name + "\n") return false;
  // A zombie has ended; field 3 of stat, after the name in brackets, is its state.
  const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  if (!stat) return false;
  const size_t end = stat->rfind(')');
  return end != std::string::npos && stat->size() > end + 2 && (*stat)[end + 2] != 'Z' && (*stat)[end + 2] != 'X';
}

}  // namespace beige::cli
