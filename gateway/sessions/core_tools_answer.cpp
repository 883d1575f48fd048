#include "gateway/sessions/core_tools_answer.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace beige::sessions {
namespace {
constexpr size_t kMaxDiff = 16u << 10;
constexpr size_t kMaxReason = 4096;
constexpr size_t kContext = 3;
constexpr size_t kMaxReadText = 64u << 10;

// The first line of an answer in words; `rest` is what follows it.
std::vector<std::string_view> FirstLine(std::string_view out, std::string_view& rest) {
  std::vector<std::string_view> words;
  const size_t end = out.substr(0, 256).find('\n');
  if (end == std::string_view::npos) return words;
  rest = out.substr(end + 1);
  for (std::string_view line = out.substr(0, end); !line.empty();) {
    const size_t blank = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, blank));
    line.remove_prefix(std::min(blank + 1, line.size()));
  }
  return words;
}

std::optional<int64_t> Number(std::string_view word) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

ToolOutcome Error(std::string text) {
  ToolOutcome outcome;
  outcome.text = std::move(text);
  outcome.is_error = true;
  return outcome;
}

ToolOutcome Strange(const ToolPlan& plan) { return Error(plan.path + ": the sandbox gave no answer that makes sense; try again"); }

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string Bytes(size_t count) { return std::to_string(count) + (count == 1 ? " byte" : " bytes"); }
}  // namespace

std::string DiffOf(std::string_view before, std::string_view after, int64_t first_line) {
  const auto was = LinesOf(before);
  const auto now = LinesOf(after);
  size_t same = 0;
  while (same < std::min(was.size(), now.size()) && was[same] == now[same]) ++same;
  size_t end = 0;
  while (end < std::min(was.size(), now.size()) - same && was[was.size() - 1 - end] == now[now.size() - 1 - end]) ++end;
  if (same == was.size() && same == now.size()) return "";
  const size_t lead = std::min(same, kContext);
  const size_t trail = std::min(end, kContext);
  const auto range = [&](size_t count) {
    const int64_t start = first_line + static_cast<int64_t>(same - lead) - (count == 0 ? 1 : 0);
    return std::to_string(std::max<int64_t>(start, 0)) + "," + std::to_string(count);
  };
  std::string out = "@@ -" + range(was.size() - same - end + lead + trail) + " +" + range(now.size() - same - end + lead + trail) + " @@\n";
  const auto add = [&](char sign, std::string_view line) {
    if (out.size() <= kMaxDiff) out.append(1, sign).append(ToUtf8(line.substr(0, 2000))) += '\n';
  };
  for (size_t i = same - lead; i < same; ++i) add(' ', was[i]);
  for (size_t i = same; i < was.size() - end; ++i) add('-', was[i]);
  for (size_t i = same; i < now.size() - end; ++i) add('+', now[i]);
  for (size_t i = now.size() - end; i < now.size() - end + trail; ++i) add(' ', now[i]);
  if (out.size() > kMaxDiff) out += "[... the rest is left out ...]\n";
  return out;
}

ToolOutcome ReadAnswer(const ToolPlan& plan, std::string_view out) {
  std::string_view rest;
  const auto words = FirstLine(out, rest);
  ToolOutcome outcome;
  if (words.size() == 2 && words[0] == "image") {
    static constexpr std::string_view kTypes[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};
    if (std::find(std::begin(kTypes), std::end(kTypes), words[1]) == std::end(kTypes)) return Strange(plan);
    outcome.text = plan.path + ": " + std::string(words[1]) + ", " + Bytes(rest.size());
    outcome.images.push_back({std::string(words[1]), std::string(rest)});
    return outcome;
  }
  if (words.size() != 5 || words[0] != "text") return Strange(plan);
  const auto first = Number(words[1]), count = Number(words[2]), total = Number(words[3]);
  if (!first || !count || !total || rest.size() > kMaxReadText) return Strange(plan);
  if (*count == 0) {
    if (*total == 0) return outcome.text = "[the file is empty]", outcome;
    return Error("offset: " + std::to_string(*first) + " is behind the end; the file has " + std::to_string(*total) + (*total == 1 ? " line" : " lines"));
  }
  outcome.text = ToUtf8(rest);
  const int64_t last = *first + *count - 1;
  const bool cut = words[4] == "1";
  if (cut || *total < 0 || last < *total) {
    if (!outcome.text.ends_with('\n')) outcome.text += '\n';
    if (cut) outcome.text += "[line " + std::to_string(last) + " is longer than 50 KB and was cut; see more of it with exec, for example with cut -c]\n";
    if (*total < 0 || last < *total) {
      outcome.text += "[lines " + std::to_string(*first) + " to " + std::to_string(last) + (*total < 0 ? "" : " of " + std::to_string(*total)) +
                      "; there are more: use offset=" + std::to_string(last + 1) + " to go on]";
    }
  }
  return outcome;
}

ToolOutcome WriteAnswer(const ToolPlan& plan, std::string_view out) {
  std::string_view old;
  const auto words = FirstLine(out, old);
  ToolOutcome outcome;
  if (words.size() == 1 && words[0] == "created") {
    outcome.text = "made " + plan.path + ", " + Bytes(plan.new_text.size());
    outcome.diff = DiffOf("", plan.new_text, 1);
  } else if (words.size() == 2 && words[0] == "replaced" && Number(words[1])) {
    outcome.text = "replaced " + plan.path + ", " + Bytes(plan.new_text.size());
    if (static_cast<size_t>(*Number(words[1])) == old.size()) outcome.diff = DiffOf(old, plan.new_text, 1);
  } else {
    return Strange(plan);
  }
  outcome.text = ToUtf8(outcome.text);
  return outcome;
}

ToolOutcome PatchAnswer(const ToolPlan& plan, std::string_view out) {
  std::string_view rest;
  const auto words = FirstLine(out, rest);
  if (words.size() != 4 || words[0] != "patched") return Strange(plan);
  const auto line = Number(words[1]), before = Number(words[2]), after = Number(words[3]);
  if (!line || !before || !after || *before < 0 || *after < 0 || static_cast<size_t>(*before) > rest.size() ||
      static_cast<size_t>(*after) != rest.size() - static_cast<size_t>(*before)) {
    return Strange(plan);
  }
  const std::string head(rest.substr(0, static_cast<size_t>(*before)));
  const std::string tail(rest.substr(static_cast<size_t>(*before)));
  ToolOutcome outcome;
  outcome.text = ToUtf8("patched " + plan.path + " at line " + std::to_string(*line));
  outcome.diff = DiffOf(head + plan.old_text + tail, head + plan.new_text + tail, *line);
  return outcome;
}

ToolOutcome FailedAnswer(const CallResult& result, std::string_view err) {
  while (err.ends_with('\n')) err.remove_suffix(1);
  if (result.how == BGE_HOW_EXITED && !err.empty()) return Error(ToUtf8(err.substr(0, kMaxReason)));
  if (result.how == BGE_HOW_SIGNALED) return Error("ended by signal " + std::to_string(result.code));
  if (result.how == BGE_HOW_EXITED) return Error("exit code " + std::to_string(result.code));
  return Error(ToUtf8(std::string_view(result.text).substr(0, kMaxReason)));
}

ToolOutcome CommandAnswer(const CallResult& result, std::string shown) {
  if (result.how == BGE_HOW_DENIED) return FailedAnswer(result, "");
  ToolOutcome outcome;
  outcome.text = std::move(shown);
  outcome.is_error = result.how != BGE_HOW_EXITED || result.code != 0;
  if (!outcome.text.empty() && !outcome.text.ends_with('\n')) outcome.text += '\n';
  std::string how = result.text.substr(0, kMaxReason);  // "exec: timed out after 2m"
  if (result.how == BGE_HOW_EXITED) how = "exit code " + std::to_string(result.code);
  if (result.how == BGE_HOW_SIGNALED) how = "ended by signal " + std::to_string(result.code);
  outcome.text += "[" + std::string(outcome.text.empty() ? "no output; " : "") + ToUtf8(how) + "]";
  return outcome;
}

}  // namespace beige::sessions
