#include "gateway/llm/sse.h"

#include <algorithm>

namespace beige::llm {

bool SseParser::Feed(std::string_view bytes, const OnEvent& on_event) {
  while (!bytes.empty()) {
    if (after_cr_) {
      after_cr_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const size_t end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() + data_.size() > limit_) return false;
    if (end == std::string_view::npos) {
      line_ += part;
      return true;
    }
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (line_.empty()) {
      Line(part, on_event);
    } else {
      line_ += part;
      const std::string whole = std::move(line_);
      line_.clear();
      Line(whole, on_event);
    }
  }
  return true;
}

void SseParser::End(const OnEvent& on_event) {
  line_.clear();
  Dispatch(on_event);
}

void SseParser::Line(std::string_view line, const OnEvent& on_event) {
  if (first_line_ && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  first_line_ = false;
  if (line.empty()) return Dispatch(on_event);
  const size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field.empty()) {  // a comment; servers send them to keep the connection
    saw_anything_ = true;
  } else if (field == "data") {
    saw_anything_ = true;
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  } else if (field == "event") {
    saw_anything_ = true;
    name_ = value;
  }
}

void SseParser::Dispatch(const OnEvent& on_event) {
  const std::string name = std::move(name_);
  const std::string data = std::move(data_);
  const bool has = has_data_;
  name_.clear();
  data_.clear();
  has_data_ = false;
  if (has && !data.empty()) on_event(name, data);
}

}  // namespace beige::llm
