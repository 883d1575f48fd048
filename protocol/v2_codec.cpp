#include "protocol/v2_codec.h"

#include <algorithm>

namespace beige::v2 {
namespace {
constexpr size_t kLong = 64u << 10;  // beyond data frames

void Put16(std::string& out, uint16_t v) {
  out += static_cast<char>(v & 0xff);
  out += static_cast<char>(v >> 8);
}
void Put32(std::string& out, uint32_t v) {
  for (int i = 0; i < 4; ++i) out += static_cast<char>((v >> (8 * i)) & 0xff);
}
uint8_t Get8(std::string_view b, size_t at) { return static_cast<uint8_t>(b[at]); }
uint16_t Get16(std::string_view b, size_t at) { return static_cast<uint16_t>(Get8(b, at) | (Get8(b, at + 1) << 8)); }
uint32_t Get32(std::string_view b, size_t at) {
  return static_cast<uint32_t>(Get16(b, at)) | (static_cast<uint32_t>(Get16(b, at + 2)) << 16);
}
}  // namespace

std::string EncodePreamble(const Preamble& p) {
  std::string out(BGE_MAGIC);
  out += static_cast<char>(p.min);
  out += static_cast<char>(p.max);
  Put16(out, p.role);
  Put32(out, p.features);
  Put32(out, 0);
  return out;
}

Result<Preamble> DecodePreamble(std::string_view bytes) {
  if (bytes.size() != BGE_PREAMBLE_BYTES || !bytes.starts_with(BGE_MAGIC)) {
    return Fail(Code::kInvalid, "protocol: want the 16-byte preamble of v2");
  }
  return Preamble{Get8(bytes, 4), Get8(bytes, 5), Get16(bytes, 6), Get32(bytes, 8)};
}

Preamble AnswerTo(const Preamble& peer) {
  const int version = std::min<int>(peer.max, BGE_VERSION_MAX);
  const bool fits = version >= peer.min && version >= BGE_VERSION_MIN;
  const auto chosen = static_cast<uint8_t>(fits ? version : 0);
  return Preamble{chosen, chosen, peer.role, peer.features & BGE_FEATURES};
}

void AppendFrame(std::string& out, uint32_t call, uint8_t kind, std::string_view payload, uint8_t stream) {
  Put32(out, static_cast<uint32_t>(payload.size()));
  Put32(out, call);
  out += static_cast<char>(kind);
  out += static_cast<char>(stream);
  Put16(out, 0);
  out.append(payload);
}

void FrameReader::Feed(std::string_view bytes) {
  if (start_ == buffer_.size() && buffer_.capacity() > 4 * kLong) {
    buffer_ = {};
    start_ = 0;
  }
  if (start_ > 0) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  buffer_.append(bytes);
}

Result<std::optional<FrameReader::Frame>> FrameReader::Next() {
  const std::string_view rest = std::string_view(buffer_).substr(start_);
  if (rest.size() < BGE_HEADER_BYTES) return std::optional<Frame>();
  const FrameHeader header{Get32(rest, 0), Get32(rest, 4), Get8(rest, 8), Get8(rest, 9)};
  if (header.length > max_payload_) {
    return Fail(Code::kInvalid, "protocol: frame of " + std::to_string(header.length) + " bytes; the limit is " + std::to_string(max_payload_));
  }
  if (rest.size() < BGE_HEADER_BYTES + header.length) {
    // Room at once, so that a long frame is not moved from buffer to larger buffer. What nobody has sent is memory that nobody has touched.
    if (header.length > kLong) buffer_.reserve(start_ + BGE_HEADER_BYTES + header.length + kLong);
    return std::optional<Frame>();
  }
  start_ += BGE_HEADER_BYTES + header.length;
  return std::optional<Frame>(Frame{header, rest.substr(BGE_HEADER_BYTES, header.length)});
}

void AppendField(std::string& out, uint8_t tag, std::string_view value) {
  out += static_cast<char>(tag);
  Put32(out, static_cast<uint32_t>(value.size()));
  out.append(value);
}

void AppendU32Field(std::string& out, uint8_t tag, uint32_t value) {
  std::string bytes;
  Put32(bytes, value);
  AppendField(out, tag, bytes);
}

Result<std::vector<Field>> DecodeFields(std::string_view payload) {
  std::vector<Field> fields;
  while (!payload.empty()) {
    if (payload.size() < 5) return Fail(Code::kInvalid, "protocol: cut field");
    const uint32_t length = Get32(payload, 1);
    if (length > payload.size() - 5) return Fail(Code::kInvalid, "protocol: field longer than its frame");
    fields.push_back({Get8(payload, 0), payload.substr(5, length)});
    payload.remove_prefix(5 + length);
  }
  return fields;
}

Result<uint32_t> FieldU32(std::string_view value) {
  if (value.size() != 4) return Fail(Code::kInvalid, "protocol: want a 4-byte number");
  return Get32(value, 0);
}

std::string EncodeExit(const Exit& exit) {
  std::string out(1, static_cast<char>(exit.how));
  Put32(out, static_cast<uint32_t>(exit.code));
  return out + exit.text;
}

Result<Exit> DecodeExit(std::string_view payload) {
  if (payload.size() < 5) return Fail(Code::kInvalid, "protocol: cut exit frame");
  return Exit{Get8(payload, 0), static_cast<int32_t>(Get32(payload, 1)), std::string(payload.substr(5))};
}

void AppendWindow(std::string& out, uint32_t call, uint8_t stream, uint32_t credit) {
  std::string bytes;
  Put32(bytes, credit);
  AppendFrame(out, call, BGE_WINDOW, bytes, stream);
}

Result<uint32_t> DecodeWindow(std::string_view payload) { return FieldU32(payload); }

std::string EncodeSize(TerminalSize size) {
  std::string out;
  Put16(out, size.columns);
  Put16(out, size.rows);
  return out;
}

Result<TerminalSize> DecodeSize(std::string_view payload) {
  if (payload.size() != 4) return Fail(Code::kInvalid, "protocol: want columns and rows");
  return TerminalSize{Get16(payload, 0), Get16(payload, 2)};
}

}  // namespace beige::v2
