#include "cli/doctor/limits.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.h"

namespace beige::cli {
namespace {
constexpr uint64_t kMiB = 1u << 20;
// The gateway's own files, HTTP connections, and calls in flight with their pipes.
constexpr uint64_t kOwn = 256;
// Of an agent: two listeners, the control channel, 64 connections and PID 1's own, and room for refused ones.
constexpr uint64_t kPerAgent = 72;
constexpr uint64_t kPerCell = 6;

uint64_t Number(const char* path) {
  const auto text = ReadFile(path, 64);
  return text ? std::strtoull(text->c_str(), nullptr, 10) : 0;
}

// Instances are counted per user: those of every process whose descriptors we may see.
uint64_t InotifyInstances() {
  uint64_t count = 0;
  const auto processes = ListDir("/proc");
  if (!processes) return 0;
  for (const auto& pid : *processes) {
    if (pid[0] < '0' || pid[0] > '9') continue;
    struct stat owner {};
    const std::string directory = "/proc/" + pid + "/fd";
    if (::stat(("/proc/" + pid).c_str(), &owner) != 0 || owner.st_uid != ::getuid()) continue;
    const auto descriptors = ListDir(directory);
    if (!descriptors) continue;
    for (const auto& fd : *descriptors) {
      char target[32] = "";
      const ssize_t n = ::readlink(JoinPath(directory, fd).c_str(), target, sizeof target - 1);
      if (n > 0 && std::string_view(target, static_cast<size_t>(n)) == "anon_inode:inotify") ++count;
    }
  }
  return count;
}

std::string Amount(uint64_t bytes) { return bytes >= 10240 * kMiB ? std::to_string(bytes / (1024 * kMiB)) + " GiB" : std::to_string(bytes / kMiB) + " MiB"; }
}  // namespace

uint64_t DescriptorsNeeded(size_t agents, size_t tools) { return kOwn + agents * kPerAgent + tools * kPerCell; }

LimitFacts ReadLimits(const std::string& home) {
  LimitFacts facts;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) facts.descriptors = limit.rlim_max;
  facts.inotify_instances = Number("/proc/sys/fs/inotify/max_user_instances");
  facts.inotify_watches = Number("/proc/sys/fs/inotify/max_user_watches");
  facts.inotify_used = InotifyInstances();
  std::string place = home;
  while (!Exists(place) && place.size() > 1) place = place.substr(0, std::max<size_t>(place.rfind('/'), 1));
  struct statvfs disk {};
  if (::statvfs(place.c_str(), &disk) == 0) {
    facts.disk_free = static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
    facts.files_free = disk.f_files == 0 ? UINT64_MAX : disk.f_favail;  // some file systems have no fixed number
  }
  return facts;
}

Findings JudgeLimits(const LimitFacts& facts) {
  Findings out;
  const uint64_t needed = DescriptorsNeeded(facts.agents, facts.tools);
  const std::string have = std::to_string(facts.descriptors) + " descriptors for each process, at most " + std::to_string(needed) + " needed for " + std::to_string(facts.agents) +
                           (facts.agents == 1 ? " agent" : " agents");
  const std::string raise = "raise the hard limit: LimitNOFILE= of the service, or nofile in /etc/security/limits.conf";
  if (facts.descriptors < kOwn) {
    out.push_back(Bad("limits.descriptors", have, raise));
  } else if (facts.descriptors < needed) {
    out.push_back(Warn("limits.descriptors", have, raise));
  } else {
    out.push_back(Ok("limits.descriptors", have));
  }

  const uint64_t left = facts.inotify_instances > facts.inotify_used ? facts.inotify_instances - facts.inotify_used : 0;
  const std::string inotify = std::to_string(left) + " of " + std::to_string(facts.inotify_instances) + " instances free, " + std::to_string(facts.inotify_watches) + " watches";
  if (left < 8 || facts.inotify_watches < 1024) {
    out.push_back(Warn("limits.inotify", inotify + "; without one, changed files are found by looking every few seconds",
                       "sysctl fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=65536 (keep it in /etc/sysctl.d/), or end what uses them up"));
  } else {
    out.push_back(Ok("limits.inotify", inotify));
  }

  const std::string disk = Amount(facts.disk_free) + " free at the home";
  if (facts.disk_free < 64 * kMiB || facts.files_free < 1000) {
    out.push_back(Bad("limits.disk", disk + (facts.files_free < 1000 ? ", and no inodes" : "") + ": calls that can't be recorded are denied", "free some, or put the home on another disk (--home)"));
  } else if (facts.disk_free < 1024 * kMiB) {
    out.push_back(Warn("limits.disk", disk, "free some: images, workspaces and the audit log grow"));
  } else {
    out.push_back(Ok("limits.disk", disk));
  }
  return out;
}

}  // namespace beige::cli
