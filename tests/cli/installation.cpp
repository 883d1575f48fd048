#include "installation.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"

namespace beige::testing {

Installation::Installation() : bin_(TemporaryDirectory()) {
  // Copies: the program finds the others beside itself.
  std::filesystem::copy_file(BeigeProgram(), bin_ + "/beige");
  for (const char* name : {"beige-gateway", "beige-operator"}) std::filesystem::copy_file(StandIn(name), bin_ + "/" + name);
}

Installation::~Installation() {
  if (::testing::Test::HasFailure()) {
    for (const char* log : {"logs/beige.log", "logs/beige-gateway.log", "logs/beige-operator.log"}) GTEST_LOG_(INFO) << log << ":\n" << home_.Read(log);
  }
  Beige({"down"});
  static_cast<void>(RemoveTree(bin_));
}

std::vector<std::string> Installation::Command(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {bin_ + "/beige", "--home", home_.path()});
  return arguments;
}

Outcome Installation::Beige(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) const {
  return Program(Command(arguments), environment).Finish(std::chrono::seconds(60));
}

nlohmann::json Installation::Json(const std::string& relative) const { return nlohmann::json::parse(home_.Read(relative), nullptr, false); }

pid_t Installation::Pid(const std::string& key) const {
  const auto info = Json("run/up.json");
  return info.is_object() ? info.value(key, 0) : 0;
}

std::string Installation::NameOf(pid_t pid) {
  std::string name = ReadFile("/proc/" + std::to_string(pid) + "/comm").value_or("");
  if (ReadFile("/proc/" + std::to_string(pid) + "/stat").value_or("").find(") Z ") != std::string::npos) return "";
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

bool Installation::AnswersWithNewPid(const std::string& key, pid_t old) const {
  return Eventually([&] {
    const pid_t pid = Pid(key);
    const auto info = Json(key == "gatewayPid" ? "data/gateway/gateway.json" : "data/operator/operator.json");
    return pid > 0 && pid != old && info.is_object() && info.value("pid", 0) == pid;
  });
}

bool CanMakeUserNamespaces() {
  return Program({"/bin/sh", "-c", "bwrap --unshare-user --ro-bind / / --bind /proc /proc true"}).Finish().status == 0;
}

}  // namespace beige::testing
