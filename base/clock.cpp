#include "base/clock.h"

#include <charconv>
#include <cstdio>
#include <ctime>

namespace beige {
namespace {
using std::chrono::milliseconds;

struct Unit {
  std::string_view name;
  long long ms;
};
// Longest names first where one is a prefix of another.
constexpr Unit kUnits[] = {{"ms", 1}, {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}};
constexpr long long kMaxMs = 100LL * 365 * 86400000;
}  // namespace

std::string FormatTime(SystemTime time) {
  const auto ms = std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm tm{};
  gmtime_r(&seconds, &tm);
  char text[40];
  const int n = std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1,
                              tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, static_cast<int>(ms % 1000));
  return std::string(text, static_cast<size_t>(n));
}

Result<SystemTime> ParseTime(std::string_view text) {
  std::tm tm{};
  const std::string copy(text);
  const char* rest = strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &tm);
  if (rest == nullptr) return Fail(Code::kInvalid, "want a time such as 2026-11-29T12:00:00Z, got \"" + copy + "\"");
  long long nanos = 0;
  if (*rest == '.') {
    long long scale = 1000000000;
    for (++rest; *rest >= '0' && *rest <= '9'; ++rest) {
      if (scale > 1) {
        scale /= 10;
        nanos += (*rest - '0') * scale;
      }
    }
  }
  if (*rest != 'Z' || rest[1] != '\0') return Fail(Code::kInvalid, "want a UTC time that ends in Z, got \"" + copy + "\"");
  // Nanoseconds in 64 bits end in the year 2262.
  const std::time_t seconds = timegm(&tm);
  if (seconds > 9'000'000'000 || seconds < -9'000'000'000) return Fail(Code::kInvalid, "want a time before the year 2255, got \"" + copy + "\"");
  return std::chrono::system_clock::from_time_t(seconds) +
         std::chrono::duration_cast<SystemTime::duration>(std::chrono::nanoseconds(nanos));
}

Result<milliseconds> ParseDuration(std::string_view text) {
  const auto bad = [&] { return Fail(Code::kInvalid, "want a duration such as 30s or 1m30s, got \"" + std::string(text) + "\""); };
  long long total = 0;
  std::string_view rest = text;
  if (rest.empty()) return bad();
  while (!rest.empty()) {
    long long value = 0;
    const auto [end, err] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (err != std::errc() || value < 0 || rest.front() == '-') return bad();
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    const Unit* unit = nullptr;
    for (const Unit& u : kUnits) {
      if (rest.starts_with(u.name)) {
        unit = &u;
        break;
      }
    }
    if (unit == nullptr || value > kMaxMs / unit->ms) return bad();
    total += value * unit->ms;
    if (total > kMaxMs) return bad();
    rest.remove_prefix(unit->name.size());
  }
  return milliseconds(total);
}

std::string FormatDuration(milliseconds duration) {
  long long left = duration.count();
  if (left == 0) return "0s";
  std::string text;
  for (const Unit& u : {kUnits[1], kUnits[2], kUnits[3], kUnits[4], kUnits[0]}) {
    if (left >= u.ms) {
      text += std::to_string(left / u.ms) + std::string(u.name);
      left %= u.ms;
    }
  }
  return text;
}

}  // namespace beige
