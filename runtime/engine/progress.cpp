#include "runtime/engine/progress.h"

#include <nlohmann/json.hpp>

#include "runtime/engine/json_read.h"

namespace beige::runtime::engine {

namespace {

std::string_view TrimEnd(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

Result<> LineSplitter::Feed(std::string_view bytes, const std::function<Result<>(std::string_view)>& on_line) {
  const auto too_long = [this] { return Fail(Code::kInternal, "a line of the engine's stream is longer than " + std::to_string(limit_) + " bytes"); };
  size_t end = 0;
  while ((end = bytes.find('\n')) != std::string_view::npos) {
    if (pending_.size() + end > limit_) return too_long();
    pending_ += bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    const std::string line = std::exchange(pending_, {});
    if (const std::string_view trimmed = TrimEnd(line); !trimmed.empty()) BEIGE_TRY(on_line(trimmed));
  }
  pending_ += bytes;
  return pending_.size() > limit_ ? Result<>(too_long()) : Result<>();
}

Result<> LineSplitter::End(const std::function<Result<>(std::string_view)>& on_line) {
  const std::string line = std::exchange(pending_, {});
  const std::string_view trimmed = TrimEnd(line);
  return trimmed.empty() ? Result<>() : on_line(trimmed);
}

Result<> ProgressReader::Feed(std::string_view bytes) {
  return splitter_.Feed(bytes, [this](std::string_view line) { return Line(line); });
}

Result<> ProgressReader::End() {
  return splitter_.End([this](std::string_view line) { return Line(line); });
}

Result<> ProgressReader::Line(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  std::string error = Text(At(json, "errorDetail"), "message");
  if (error.empty()) error = Text(json, "error");
  if (!error.empty()) {
    const bool absent = error.find("manifest unknown") != std::string::npos || error.find("not found") != std::string::npos;
    return Fail(absent ? Code::kNotFound : Code::kUnavailable, error);
  }
  std::string text = Text(json, "stream");
  if (text.empty()) {
    text = Text(json, "status");
    if (const std::string id = Text(json, "id"); !id.empty()) text = id + ": " + text;
    if (const std::string bar = Text(json, "progress"); !bar.empty()) text += " " + bar;
  }
  const std::string shown(TrimEnd(text));
  if (!shown.empty() && on_line_) on_line_(shown);
  return {};
}

}  // namespace beige::runtime::engine
