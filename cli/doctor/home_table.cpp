#include "cli/doctor/home_table.h"

#include <pwd.h>
#include <sys/stat.h>

#include <cstdio>

#include "base/files.h"

namespace beige::cli {
namespace {
enum class Writer { kYou, kOperator, kGateway };

struct Rule {
  const char* path;
  Writer writer;
  bool secret = false;  // nobody but its owner may even read it
};
constexpr Rule kRules[] = {
    {"operator.yaml", Writer::kYou},
    {"gateway.yaml", Writer::kYou},
    {"agents.d", Writer::kYou},
    {"agents", Writer::kOperator},
    {"bin", Writer::kOperator},
    {"data", Writer::kOperator},
    {"data/operator", Writer::kOperator},
    {"data/operator/status", Writer::kOperator},
    {"data/operator/home.json", Writer::kOperator},
    {"data/gateway", Writer::kGateway},
    {"data/gateway/api-token", Writer::kGateway, true},
    {"logs", Writer::kGateway},
    {"logs/audit.jsonl", Writer::kGateway, true},
    {"sessions", Writer::kGateway},
    {"run", Writer::kGateway},
    {"run/admin.sock", Writer::kGateway, true},
    {"run/cli.sock", Writer::kGateway, true},
};

std::string NameOf(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::string buffer(16384, '\0');
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) return found->pw_name;
  return std::to_string(uid);
}

std::string Octal(unsigned mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", mode);
  return text;
}

const char* WordOf(Writer writer) { return writer == Writer::kYou ? "you" : writer == Writer::kOperator ? "operator" : "gateway"; }

void Check(HomePlace& place, const std::string& path, const struct stat& info, Writer writer, bool secret, uid_t operator_, uid_t gateway) {
  const unsigned mode = info.st_mode & 07777;
  const bool gateways = writer == Writer::kGateway;
  const uid_t wanted = gateways ? gateway : operator_;
  if (info.st_uid != wanted && !(info.st_uid == 0 && !gateways)) {
    place.problem = "belongs to " + NameOf(info.st_uid) + ", not to " + NameOf(wanted);
    place.action = "chown " + NameOf(wanted) + " " + path;
  } else if ((mode & 0022) != 0) {
    place.problem = "others than its owner may write it (mode " + Octal(mode) + ")";
    place.action = "chmod go-w " + path;
  } else if (secret && (mode & 0077) != 0) {
    place.problem = "others than its owner may use it (mode " + Octal(mode) + ")";
    place.action = "chmod 0600 " + path;
  }
}
}  // namespace

std::vector<HomePlace> LookAtHome(const HomePaths& paths) {
  std::vector<HomePlace> places;
  struct stat home {};
  if (::stat(paths.home().c_str(), &home) != 0) return places;
  struct stat info {};
  const uid_t gateway = ::stat(paths.DataGateway().c_str(), &info) == 0 ? info.st_uid : home.st_uid;
  const uid_t operator_ = ::stat(paths.DataOperator().c_str(), &info) == 0 ? info.st_uid : home.st_uid;
  HomePlace top{".", "you", NameOf(home.st_uid), home.st_mode & 07777, "", ""};
  // With users of their own, the group that both are in may pass through.
  const unsigned closed = gateway == home.st_uid ? 0077 : 0027;
  if ((home.st_mode & closed) != 0) {
    top.problem = "others may look into it (mode " + Octal(top.mode) + ")";
    top.action = std::string("chmod ") + (gateway == home.st_uid ? "0700 " : "0750 ") + paths.home();
  }
  places.push_back(top);
  for (const Rule& rule : kRules) {
    const std::string path = JoinPath(paths.home(), rule.path);
    if (::stat(path.c_str(), &info) != 0) continue;
    HomePlace place{rule.path, WordOf(rule.writer), NameOf(info.st_uid), info.st_mode & 07777, "", ""};
    Check(place, path, info, rule.writer, rule.secret, operator_, gateway);
    places.push_back(std::move(place));
  }
  return places;
}

Findings JudgeHome(const std::vector<HomePlace>& places) {
  Findings out;
  size_t wrong = 0;
  for (const auto& place : places) {
    if (place.problem.empty()) continue;
    ++wrong;
    out.push_back(Warn("home.ownership", place.path + ": " + place.problem, place.action));
  }
  if (wrong == 0 && !places.empty()) out.push_back(Ok("home.ownership", std::to_string(places.size()) + " places belong to whom they should"));
  return out;
}

}  // namespace beige::cli
