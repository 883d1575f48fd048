#ifndef BEIGE_GATEWAY_SESSIONS_JSON_LINE_H_
#define BEIGE_GATEWAY_SESSIONS_JSON_LINE_H_

#include <string>
#include <string_view>
#include <utility>

#include "base/json_text.h"
#include "gateway/llm/event.h"

namespace beige::sessions {

// One flat JSON object, written member by member: an event's data, of which there is one for each token.
class JsonLine {
 public:
  JsonLine& Text(std::string_view key, std::string_view value) {
    Key(key);
    AppendJsonString(out_, value);
    return *this;
  }
  JsonLine& Number(std::string_view key, int64_t value) {
    Key(key);
    AppendNumber(out_, value);
    return *this;
  }
  JsonLine& Raw(std::string_view key, std::string_view json) {
    Key(key);
    out_ += json;
    return *this;
  }
  JsonLine& Bool(std::string_view key, bool value) { return Raw(key, value ? "true" : "false"); }
  JsonLine& Of(const llm::Usage& usage);
  std::string Done() { return std::move(out_.append("}")); }

 private:
  void Key(std::string_view key) {
    out_.append(out_.size() > 1 ? ",\"" : "\"").append(key).append("\":");
  }
  std::string out_ = "{";
};

// A JSON object of somebody else's as one line of at most about `limit` bytes: long texts in it are cut, and say how much is gone; "{}"
// for what is none, or is still too long.
std::string Shortened(const std::string& object, size_t limit);

// Its first `limit` bytes, and how many more there were.
std::string CutText(std::string_view text, size_t limit);

}  // namespace beige::sessions

#endif
