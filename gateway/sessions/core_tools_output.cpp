#include "gateway/sessions/core_tools_output.h"

#include <algorithm>
#include <utility>

#include "api/utf8.h"

namespace beige::sessions {
namespace {
constexpr std::string_view kReplacement = "\xef\xbf\xbd";
constexpr size_t kHead = Output::kShown / 3;
constexpr size_t kTail = Output::kShown - kHead;
constexpr size_t kHeadLines = 500;
constexpr size_t kTailLines = Output::kShownLines - kHeadLines;

// Bytes at the end that begin a character whose rest may still come.
size_t Unfinished(std::string_view bytes) {
  for (size_t back = 1; back <= std::min<size_t>(3, bytes.size()); ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    const size_t wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return wanted > back && byte < 0xf5 ? back : 0;
  }
  return 0;
}

// Up to `lines` lines of at most `limit` bytes from the beginning, whole ones unless the first is longer.
std::string_view Head(std::string_view text, size_t limit, size_t lines) {
  size_t end = 0;
  for (; lines > 0; --lines) {
    const size_t newline = text.find('\n', end);
    if (newline == std::string_view::npos || newline >= limit) break;
    end = newline + 1;
  }
  return text.substr(0, end > 0 ? end : std::min(limit, text.size()));
}

std::string_view Tail(std::string_view text, size_t limit, size_t lines) {
  const size_t first = text.size() > limit ? text.size() - limit : 0;
  size_t start = text.size();
  for (; lines > 0 && start > 0; --lines) {
    const size_t newline = start < 2 ? std::string_view::npos : text.rfind('\n', start - 2);
    const size_t line = newline == std::string_view::npos ? 0 : newline + 1;
    if (line < first) break;
    start = line;
  }
  return text.substr(start < text.size() ? start : first);
}
}  // namespace

// Each of the two is looked for again only when it has been passed: an agent may print nothing but one of them.
std::string ToUtf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  size_t invalid = FindInvalidUtf8(bytes);
  size_t nul = bytes.find('\0');
  for (size_t at = 0; at < bytes.size();) {
    const size_t bad = std::min({invalid, nul, bytes.size()});
    out.append(bytes.substr(at, bad - at));
    if (bad == bytes.size()) break;
    out.append(kReplacement);
    at = bad + 1;
    if (invalid < at) {
      const size_t found = FindInvalidUtf8(bytes.substr(at));
      invalid = found == std::string_view::npos ? found : at + found;
    }
    if (nul < at) nul = bytes.find('\0', at);
  }
  return out;
}

std::string Utf8Stream::Feed(std::string_view bytes) {
  waiting_.append(bytes);
  const size_t keep = Unfinished(waiting_);
  std::string out = ToUtf8(std::string_view(waiting_).substr(0, waiting_.size() - keep));
  waiting_.erase(0, waiting_.size() - keep);
  return out;
}

std::string Utf8Stream::End() { return ToUtf8(std::exchange(waiting_, {})); }

void Output::Add(std::string_view bytes) {
  bytes_ += bytes.size();
  lines_ += static_cast<uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  const size_t room = std::min({bytes.size(), kGathered - std::min(kGathered, gathered_.size()), left_ ? *left_ : kGathered});
  if (left_) *left_ -= room;
  gathered_.append(bytes.substr(0, room));
  bytes.remove_prefix(room);
  if (bytes.empty()) return;
  if (bytes.size() >= kTail) tail_.clear();
  tail_.append(bytes.substr(bytes.size() > kTail ? bytes.size() - kTail : 0));
  if (tail_.size() > 4 * kTail) tail_.erase(0, tail_.size() - kTail);
}

Output::~Output() {
  if (left_) *left_ += gathered_.size();
}

bool Output::Fits() const { return bytes_ <= kShown && lines_ <= kShownLines; }

std::string Output::Shown(std::string_view where) const {
  if (Fits()) return ToUtf8(gathered_);
  const std::string_view head = Head(gathered_, kHead, kHeadLines);
  std::string end = tail_;
  if (end.size() < kTail) end = gathered_.substr(gathered_.size() - std::min(gathered_.size(), kTail - end.size())) + end;
  std::string_view tail = Tail(end, kTail, kTailLines);
  // Few but long lines: the two may not overlap.
  const uint64_t left = bytes_ - head.size();
  if (tail.size() > left) tail.remove_prefix(tail.size() - static_cast<size_t>(left));
  std::string out = ToUtf8(head);
  if (!out.ends_with('\n')) out += '\n';
  out += "[... " + std::to_string(left - tail.size()) + " of " + std::to_string(bytes_) + " bytes left out; ";
  out.append(where) += " ...]\n";
  return out += ToUtf8(tail);
}

}  // namespace beige::sessions
