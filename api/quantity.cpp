#include "api/quantity.h"

#include <array>
#include <optional>

namespace beige {
namespace {

__extension__ typedef __int128 Wide;

constexpr int64_t kMaxCpuMillis = 1024 * 1000;
constexpr int64_t kMaxBytes = int64_t{64} << 40;
constexpr int64_t kMinMemory = int64_t{16} << 20;

struct Suffix {
  std::string_view text;
  int64_t factor;
};
constexpr std::array<Suffix, 9> kSuffixes = {{{"Ti", int64_t{1} << 40},
                                              {"Gi", int64_t{1} << 30},
                                              {"Mi", int64_t{1} << 20},
                                              {"Ki", int64_t{1} << 10},
                                              {"T", 1'000'000'000'000},
                                              {"G", 1'000'000'000},
                                              {"M", 1'000'000},
                                              {"k", 1'000},
                                              {"", 1}}};

// digits[.digits] times `factor`, rounded up to a whole one as Kubernetes does; nothing when it is no such number or does not fit.
std::optional<int64_t> Scaled(std::string_view number, int64_t factor) {
  Wide value = 0;
  Wide scale = 1;
  bool point = false;
  size_t digits = 0;
  for (const char c : number) {
    if (c == '.' && !point && digits > 0) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    if (++digits > 21) return std::nullopt;
    value = value * 10 + (c - '0');
    if (point) scale *= 10;
  }
  if (digits == 0 || number.back() == '.') return std::nullopt;
  value *= factor;  // below 1e21 * 2^40: fits 128 bits
  value = (value + scale - 1) / scale;
  if (value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(value);
}

}  // namespace

Result<int64_t> ParseCpu(std::string_view text) {
  const bool milli = text.size() > 1 && text.back() == 'm';
  const auto value = milli ? Scaled(text.substr(0, text.size() - 1), 1) : Scaled(text, 1000);
  if (!value || *value < 10 || *value > kMaxCpuMillis) {
    return Fail(Code::kInvalid, "cores from 10m to 1024, such as \"1\", \"0.5\" or \"500m\"");
  }
  return *value;
}

Result<int64_t> ParseBytes(std::string_view text, int64_t minimum) {
  const std::string range = "from " + FormatBytes(minimum) + " to 64Ti";
  if (text.size() > 1 && text.back() == 'm' && Scaled(text.substr(0, text.size() - 1), 1)) {
    return Fail(Code::kInvalid, "bytes " + range + " (m means thousandths of a byte; did you mean \"" + std::string(text.substr(0, text.size() - 1)) + "Mi\"?)");
  }
  for (const Suffix& suffix : kSuffixes) {
    if (!text.ends_with(suffix.text)) continue;
    const auto value = Scaled(text.substr(0, text.size() - suffix.text.size()), suffix.factor);
    if (value && *value >= minimum && *value <= kMaxBytes) return *value;
    break;
  }
  std::string hint;
  // 2g, 512K, 512MB, 2GiB: forms of other programs.
  std::string_view number = text;
  std::string unit;
  while (!number.empty() && (number.back() < '0' || number.back() > '9')) {
    unit.insert(unit.begin(), number.back());
    number.remove_suffix(1);
  }
  if (!unit.empty() && unit.size() <= 3 && Scaled(number, 1)) {
    const char letter = static_cast<char>(unit[0] & ~0x20);
    if (letter == 'K' || letter == 'M' || letter == 'G' || letter == 'T') {
      const std::string meant = std::string(number) + letter + "i";
      if (meant != text) hint = "; did you mean \"" + meant + "\"?";
    }
  }
  return Fail(Code::kInvalid, "bytes " + range + ", such as \"512Mi\", \"1.5Gi\" or \"2G\"" + hint);
}

Result<int64_t> ParseMemory(std::string_view text) { return ParseBytes(text, kMinMemory); }

std::string FormatCpu(int64_t millis) { return millis % 1000 == 0 ? std::to_string(millis / 1000) : std::to_string(millis) + "m"; }

std::string FormatBytes(int64_t bytes) {
  for (size_t i = 0; i < 4 && bytes != 0; ++i) {
    if (bytes % kSuffixes[i].factor == 0) return std::to_string(bytes / kSuffixes[i].factor) + std::string(kSuffixes[i].text);
  }
  return std::to_string(bytes);
}

}  // namespace beige
