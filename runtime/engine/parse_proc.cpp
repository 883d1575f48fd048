#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "runtime/engine/process_facts.h"

namespace beige::runtime::engine {

namespace {

std::vector<std::string> Split(std::string_view text, std::string_view separators) {
  std::vector<std::string> out;
  for (;;) {
    const size_t start = text.find_first_not_of(separators);
    if (start == std::string_view::npos) return out;
    const size_t end = std::min(text.find_first_of(separators, start), text.size());
    out.emplace_back(text.substr(start, end - start));
    text.remove_prefix(end);
  }
}

int64_t Number(std::string_view text) {
  int64_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<int64_t> Numbers(std::string_view text) {
  std::vector<int64_t> out;
  for (const std::string& word : Split(text, " \t")) out.push_back(Number(word));
  return out;
}

}  // namespace

StatusFacts ParseStatus(std::string_view text) {
  StatusFacts facts;
  for (const std::string& line : Split(text, "\n")) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, colon);
    const std::vector<std::string> words = Split(std::string_view(line).substr(colon + 1), " \t");
    const std::string value = words.empty() ? "" : words[0];
    if (name == "Name") facts.name = value;
    if (name == "Uid") facts.uids = Numbers(line.substr(colon + 1));
    if (name == "Gid") facts.gids = Numbers(line.substr(colon + 1));
    if (name == "Groups") facts.groups = Numbers(line.substr(colon + 1));
    if (name.size() == 6 && name.starts_with("Cap")) facts.capabilities[name] = value;
    if (name == "NoNewPrivs") facts.no_new_privileges = value;
    if (name == "Seccomp") facts.seccomp = value;
    if (name == "NSpid") facts.pids = Numbers(line.substr(colon + 1));
  }
  return facts;
}

std::vector<IdRange> ParseIdMap(std::string_view text) {
  std::vector<IdRange> out;
  for (const std::string& line : Split(text, "\n")) {
    const std::vector<int64_t> numbers = Numbers(line);
    // Ids are 32 bits wide; anything else is no map of the kernel's, and sums of such numbers could overflow.
    const auto is_id = [](int64_t number) { return number >= 0 && number <= int64_t{UINT32_MAX}; };
    if (numbers.size() == 3 && std::all_of(numbers.begin(), numbers.end(), is_id)) out.push_back({numbers[0], numbers[1], numbers[2]});
  }
  return out;
}

std::vector<std::string> ParseInterfaces(std::string_view net_dev) {
  // The kernel makes these, down, in each new network namespace where the tunnel module is built in or loaded.
  static constexpr std::array kFallback{"tunl0", "gre0",   "gretap0", "erspan0",    "ip_vti0", "ip6_vti0",
                                        "sit0",  "ip6tnl0", "ip6gre0", "ip6gretap0", "ip6erspan0"};
  std::vector<std::string> out;
  for (const std::string& line : Split(net_dev, "\n")) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;  // the two header lines
    const std::vector<std::string> name = Split(line.substr(0, colon), " ");
    if (name.empty() || std::find(kFallback.begin(), kFallback.end(), name[0]) != kFallback.end()) continue;
    out.push_back(name[0]);
  }
  return out;
}

std::string ParseHardLimit(std::string_view limits, std::string_view name) {
  for (const std::string& line : Split(limits, "\n")) {
    if (!line.starts_with(name)) continue;
    const std::vector<std::string> words = Split(line.substr(name.size()), " ");
    return words.size() >= 2 ? words[1] : "";
  }
  return "";
}

int64_t InsideId(const std::vector<IdRange>& map, int64_t outside) {
  for (const IdRange& range : map) {
    if (outside >= range.outside && outside < range.outside + range.count) return range.inside + (outside - range.outside);
  }
  return -1;
}

}  // namespace beige::runtime::engine
