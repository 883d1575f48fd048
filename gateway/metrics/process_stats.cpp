#include "gateway/metrics/process_stats.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace beige {
namespace {
double Seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; }

double CountOpenFds() {
  DIR* dir = ::opendir("/proc/self/fd");
  if (dir == nullptr) return 0;
  double count = -1;  // the directory's own descriptor
  while (const dirent* entry = ::readdir(dir)) {
    if (entry->d_name[0] != '.') ++count;
  }
  ::closedir(dir);
  return std::max(count, 0.0);
}

double BootTime() {
  std::ifstream stat("/proc/stat");
  for (std::string line; std::getline(stat, line);) {
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  }
  return 0;
}
}  // namespace

ProcessStats ReadProcessStats() {
  ProcessStats stats;
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) stats.cpu_seconds = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) stats.max_fds = static_cast<double>(limit.rlim_cur);
  stats.open_fds = CountOpenFds();

  // proc(5): the name in parentheses may hold anything, so fields are counted from the last parenthesis; the first after it is number 3.
  std::ifstream file("/proc/self/stat");
  const std::string line((std::istreambuf_iterator<char>(file)), {});
  const size_t end = line.rfind(')');
  if (end == std::string::npos) return stats;
  std::istringstream rest(line.substr(end + 1));
  std::string field;
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  for (int number = 3; number <= 24 && rest >> field; ++number) {
    if (number == 22) stats.start_time_seconds = BootTime() + std::stod(field) / ticks;
    if (number == 23) stats.virtual_bytes = std::stod(field);
    if (number == 24) stats.resident_bytes = std::stod(field) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  }
  return stats;
}

}  // namespace beige
