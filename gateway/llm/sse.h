#ifndef BEIGE_GATEWAY_LLM_SSE_H_
#define BEIGE_GATEWAY_LLM_SSE_H_

#include <functional>
#include <string>
#include <string_view>

namespace beige::llm {

// Server-sent events (WHATWG HTML, 9.2.6), incremental and bounded. Lines end in LF, CR or CRLF, a byte order mark is skipped, comments
// and the fields id and retry are ignored; how the bytes were cut makes no difference.
class SseParser {
 public:
  // Called at each event that has data; `name` is "" when the stream gives none. Lines of data are joined by LF.
  using OnEvent = std::function<void(std::string_view name, std::string_view data)>;

  explicit SseParser(size_t limit = 8u << 20) : limit_(limit) {}

  // False when one line or one event is larger than the limit; nothing may be fed after that.
  bool Feed(std::string_view bytes, const OnEvent& on_event);
  // The bytes have ended. An event whose lines are whole and only lacks the empty line is still given; half a line is not.
  void End(const OnEvent& on_event);
  bool saw_anything() const { return saw_anything_; }  // a field, a comment or an event: this is such a stream

 private:
  void Line(std::string_view line, const OnEvent& on_event);
  void Dispatch(const OnEvent& on_event);

  const size_t limit_;
  std::string line_;  // the unfinished one
  std::string name_;
  std::string data_;
  bool has_data_ = false;
  bool after_cr_ = false;    // a LF that comes next belongs to it
  bool first_line_ = true;   // may start with a byte order mark
  bool saw_anything_ = false;
};

}  // namespace beige::llm

#endif
