#include <charconv>
#include <cmath>

#include "base/files.h"
#include "runtime/engine/process_facts.h"

namespace beige::runtime::engine {

namespace {

constexpr char kRoot[] = "/sys/fs/cgroup";
constexpr int64_t kUnlimitedV1 = int64_t{1} << 60;  // v1 says "no limit" as a number near 2^63

// "max" and v1's huge number are -1.
std::optional<int64_t> ReadLimit(const std::string& path) {
  const auto text = ReadFile(path, 4096);
  if (!text) return std::nullopt;
  if (text->starts_with("max")) return -1;
  int64_t value = 0;
  if (std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc()) return std::nullopt;
  return value < 0 || value >= kUnlimitedV1 ? -1 : value;
}

std::optional<int64_t> Share(std::optional<int64_t> quota, std::optional<int64_t> period) {
  if (!quota || !period || *period <= 0) return std::nullopt;
  if (*quota < 0) return -1;
  return static_cast<int64_t>(std::llround(static_cast<double>(*quota) * 1e9 / static_cast<double>(*period)));
}

void ReadV2(const std::string& directory, CgroupFacts& facts) {
  facts.memory = ReadLimit(directory + "/memory.max");
  const auto swap = ReadLimit(directory + "/memory.swap.max");
  if (facts.memory && swap) facts.memory_swap = *swap < 0 ? -1 : *facts.memory + *swap;
  facts.pids = ReadLimit(directory + "/pids.max");
  if (const auto text = ReadFile(directory + "/cpu.max", 4096)) {  // "50000 100000"
    const size_t space = text->find(' ');
    int64_t quota = -1;
    int64_t period = 0;
    if (!text->starts_with("max")) std::from_chars(text->data(), text->data() + text->size(), quota);
    if (space != std::string::npos) std::from_chars(text->data() + space + 1, text->data() + text->size(), period);
    facts.nano_cpus = Share(quota, period);
  }
}

void ReadV1(const std::string& controller, const std::string& path, CgroupFacts& facts) {
  const std::string directory = std::string(kRoot) + "/" + controller + path;
  if (controller == "memory") {
    facts.memory = ReadLimit(directory + "/memory.limit_in_bytes");
    facts.memory_swap = ReadLimit(directory + "/memory.memsw.limit_in_bytes");
  } else if (controller == "pids") {
    facts.pids = ReadLimit(directory + "/pids.max");
  } else if (controller == "cpu") {
    facts.nano_cpus = Share(ReadLimit(directory + "/cpu.cfs_quota_us"), ReadLimit(directory + "/cpu.cfs_period_us"));
  }
}

}  // namespace

CgroupFacts ReadCgroup(std::string_view proc_cgroup) {
  CgroupFacts facts;
  while (!proc_cgroup.empty()) {
    const size_t end = proc_cgroup.find('\n');
    const std::string_view line = proc_cgroup.substr(0, end);
    proc_cgroup.remove_prefix(end == std::string_view::npos ? proc_cgroup.size() : end + 1);
    // 4:memory:/docker/ID, or 0::/docker/ID for v2
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controllers.empty() && Exists(std::string(kRoot) + path + "/memory.max")) ReadV2(std::string(kRoot) + path, facts);
    while (!controllers.empty()) {
      const size_t comma = controllers.find(',');
      ReadV1(std::string(controllers.substr(0, comma)), path, facts);
      controllers.remove_prefix(comma == std::string_view::npos ? controllers.size() : comma + 1);
    }
  }
  return facts;
}

}  // namespace beige::runtime::engine
