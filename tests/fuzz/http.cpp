// Heads and bodies of HTTP requests, cut in any way: the same requests come out, and their targets decode or are refused.
#include <cstring>

#include "http/request_reader.h"
#include "tests/fuzz/fuzz.h"

namespace {
using beige::fuzz::Hold;
using namespace beige;

struct Outcome {
  std::string requests;  // all that matters of them
  int refused = 0;
};

Outcome Read(std::string_view bytes, size_t step) {
  http::Limits limits;
  limits.header_bytes = 2048;
  limits.body_bytes = 4096;
  http::RequestReader reader(limits);
  Outcome outcome;
  while (!bytes.empty() && outcome.refused == 0) {
    const size_t now = std::min(step, bytes.size());
    const auto space = reader.Prepare(now);
    std::memcpy(space.data, bytes.data(), now);
    reader.Commit(now);
    bytes.remove_prefix(now);
    for (;;) {
      const auto state = reader.Parse();
      (void)reader.TakeContinue();
      if (state == http::RequestReader::Step::kNeedMore) break;
      if (state == http::RequestReader::Step::kRefused) {
        outcome.refused = reader.refusal().status;
        Hold(outcome.refused >= 400 && outcome.refused < 600 && !reader.refusal().message.empty(), "a refusal says why");
        break;
      }
      const auto taken = reader.Take();
      const auto& request = taken.request;
      Hold(request.body.size() <= limits.body_bytes, "no body is larger than its bound");
      Hold(!request.path.empty() && (request.path[0] == '/' || request.path == "*"), "a target is a path");
      size_t head = 0;
      for (const auto& [name, value] : request.headers) {
        head += name.size() + value.size();
        Hold((name + value).find_first_of(std::string("\r\n\0", 3)) == std::string::npos, "no header holds a line end or NUL");
        Hold(std::none_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }), "header names are in lower case");
      }
      Hold(head <= limits.header_bytes, "no head is larger than its bound");
      for (const auto segment : http::SplitPath(request.path)) {
        const auto text = http::DecodeSegment(segment);
        if (text) Hold(text->find('/') == std::string::npos && text->find('\0') == std::string::npos && *text != "..", "a segment stays one");
      }
      outcome.requests += request.method + " " + request.path + "?" + request.query + "\n" + request.body + "\n";
      if (!taken.keep_alive) return outcome;
    }
  }
  return outcome;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  beige::fuzz::Input input(data, size);
  const size_t step = 1 + input.Byte() % 64u;
  const auto bytes = input.Rest();
  const auto whole = Read(bytes, bytes.size() + 1);
  const auto cut = Read(bytes, step);
  // A bound may be hit sooner when bytes come one by one, never later.
  if (whole.refused == 0 && cut.refused == 0) Hold(whole.requests == cut.requests, "how a stream is cut makes no difference");
  return 0;
}
