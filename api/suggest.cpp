#include "api/suggest.h"

#include <algorithm>

namespace beige {
namespace {

std::string Folded(std::string_view word) {
  std::string out;
  for (const char c : word) {
    if (c == '_' || c == '-') continue;  // pids_limit for pidsLimit
    out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  return out;
}

size_t Distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string Nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 64) return "";
  const std::string folded = Folded(word);
  std::string best;
  size_t best_distance = folded.size() <= 3 ? 2 : folded.size() <= 8 ? 3 : 4;  // one more than is allowed
  for (const std::string& candidate : candidates) {
    const std::string other = Folded(candidate);
    const size_t distance = Distance(folded, other);
    // tool for tools, env for environment: one begins with the other.
    const bool begins = folded.size() >= 3 && other.size() >= 3 && (other.starts_with(folded) || folded.starts_with(other));
    if (distance < best_distance || (begins && best.empty())) {
      best = candidate;
      best_distance = std::min(best_distance, distance);
    }
  }
  return best;
}

}  // namespace beige
