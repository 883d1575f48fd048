// Frames and fields of protocol v2 as the C++ processes read them, held against the reader of the sandbox's C program.
#include <vector>

#include "gateway/cli_socket/exec_request.h"
#include "gateway/link/request_rules.h"
#include "protocol/v2_codec.h"
#include "tests/fuzz/fuzz.h"

extern "C" {
#include "sandbox-image/sandbox/wire.h"
}

namespace {
using beige::fuzz::Hold;
using beige::fuzz::Input;
using namespace beige;

struct Seen {
  v2::FrameHeader header;
  std::string payload;
  bool operator==(const Seen&) const = default;
};

// Everything that can be read of one payload.
void Payload(std::string_view payload) {
  std::string copy(payload);
  auto* bytes = reinterpret_cast<uint8_t*>(copy.data());
  Field field;
  size_t at = 0;
  int more = 0;
  std::vector<std::pair<uint8_t, std::string>> c_fields;
  while ((more = NextField(bytes, copy.size(), &at, &field)) == 1) {
    c_fields.emplace_back(field.tag, std::string(reinterpret_cast<char*>(field.bytes), field.length));
  }
  const auto fields = v2::DecodeFields(payload);
  Hold(fields.has_value() == (more == 0), "both field readers agree on what is malformed");
  if (fields) {
    std::string again;
    Hold(fields->size() == c_fields.size(), "both field readers see as many fields");
    for (size_t i = 0; i < fields->size(); ++i) {
      Hold((*fields)[i].tag == c_fields[i].first && (*fields)[i].value == c_fields[i].second, "both field readers see the same field");
      v2::AppendField(again, (*fields)[i].tag, (*fields)[i].value);
    }
    Hold(again == payload, "fields encode to what they were decoded from");
  }
  if (const auto exit = v2::DecodeExit(payload)) Hold(v2::EncodeExit(*exit) == payload, "an exit encodes to what it was decoded from");
  if (const auto size = v2::DecodeSize(payload)) Hold(v2::EncodeSize(*size) == payload, "a size encodes to what it was decoded from");
  if (const auto request = DecodeExecRequest(payload)) Hold(!request->call.args.empty(), "an exec has a program");
}

std::vector<Seen> Read(std::string_view bytes, size_t step, bool& broken) {
  v2::FrameReader reader;
  std::vector<Seen> seen;
  while (!bytes.empty()) {
    const std::string_view now = bytes.substr(0, step);
    bytes.remove_prefix(now.size());
    reader.Feed(now);
    for (;;) {
      const auto frame = reader.Next();
      if (!frame) {
        broken = true;
        return seen;
      }
      if (!*frame) break;
      seen.push_back({(*frame)->header, std::string((*frame)->payload)});
    }
  }
  return seen;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const size_t step = 1 + input.Byte() % 64u;
  const std::string_view preamble = input.Take(BGE_PREAMBLE_BYTES);
  if (const auto peer = v2::DecodePreamble(preamble)) {
    const auto answer = v2::EncodePreamble(v2::AnswerTo(*peer));
    const int fits = CheckPreamble(reinterpret_cast<const uint8_t*>(answer.data()), peer->role);
    Hold(fits == 0 || fits == 1, "the sandbox's side understands every answer");
  }
  const std::string_view stream = input.Rest();
  bool broken = false;
  bool broken_in_steps = false;
  const auto whole = Read(stream, stream.size() + 1, broken);
  Hold(whole == Read(stream, step, broken_in_steps) && broken == broken_in_steps, "how a stream is cut makes no difference");
  std::string copy(stream);
  size_t at = 0;
  for (const auto& seen : whole) {
    Frame frame;
    Hold(NextFrame(reinterpret_cast<uint8_t*>(copy.data()) + at, copy.size() - at, &frame) == 1, "both frame readers see a frame");
    Hold(frame.length == seen.header.length && frame.call == seen.header.call && frame.kind == seen.header.kind && frame.stream == seen.header.stream,
         "both frame readers see the same frame");
    at += BGE_HEADER_BYTES + frame.length;
    Payload(seen.payload);
  }
  Payload(stream);
  return 0;
}
