#ifndef BEIGE_PROTOCOL_V2_CODEC_H_
#define BEIGE_PROTOCOL_V2_CODEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/v2.h"

namespace beige::v2 {

struct Preamble {
  uint8_t min = BGE_VERSION_MIN;
  uint8_t max = BGE_VERSION_MAX;
  uint16_t role = 0;
  uint32_t features = BGE_FEATURES;
  bool operator==(const Preamble&) const = default;
};
std::string EncodePreamble(const Preamble& preamble);
// `bytes` has exactly BGE_PREAMBLE_BYTES. Invalid on a wrong magic.
Result<Preamble> DecodePreamble(std::string_view bytes);
// The answer to a peer's preamble; min = max = 0 when no version fits.
Preamble AnswerTo(const Preamble& peer);

struct FrameHeader {
  uint32_t length = 0;
  uint32_t call = 0;
  uint8_t kind = 0;
  uint8_t stream = 0;
  bool operator==(const FrameHeader&) const = default;
};

void AppendFrame(std::string& out, uint32_t call, uint8_t kind, std::string_view payload, uint8_t stream = 0);

// Takes bytes as they come and gives whole frames. The payload points into the reader until the next call of Next or Feed.
class FrameReader {
 public:
  explicit FrameReader(size_t max_payload = BGE_MAX_PAYLOAD) : max_payload_(max_payload) {}
  void Feed(std::string_view bytes);
  struct Frame {
    FrameHeader header;
    std::string_view payload;
  };
  // nullopt = needs more bytes. Invalid (for good) when a frame announces more than the limit.
  Result<std::optional<Frame>> Next();
  size_t buffered() const { return buffer_.size() - start_; }

 private:
  size_t max_payload_;
  std::string buffer_;
  size_t start_ = 0;
};

struct Field {
  uint8_t tag = 0;
  std::string_view value;
};
void AppendField(std::string& out, uint8_t tag, std::string_view value);
void AppendU32Field(std::string& out, uint8_t tag, uint32_t value);
// Invalid when a length runs over the end. Values point into `payload`.
Result<std::vector<Field>> DecodeFields(std::string_view payload);
Result<uint32_t> FieldU32(std::string_view value);

struct Exit {
  uint8_t how = BGE_HOW_EXITED;
  int32_t code = 0;
  std::string text;
  bool operator==(const Exit&) const = default;
};
std::string EncodeExit(const Exit& exit);
Result<Exit> DecodeExit(std::string_view payload);

void AppendWindow(std::string& out, uint32_t call, uint8_t stream, uint32_t credit);
Result<uint32_t> DecodeWindow(std::string_view payload);

struct TerminalSize {
  uint16_t columns = 80;
  uint16_t rows = 24;
  bool operator==(const TerminalSize&) const = default;
};
std::string EncodeSize(TerminalSize size);
Result<TerminalSize> DecodeSize(std::string_view payload);

}  // namespace beige::v2

#endif
