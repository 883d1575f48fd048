#include "tests/gateway/core/client.h"

#include <poll.h>
#include <sys/socket.h>

#include <stdexcept>

#include "base/unix_socket.h"

namespace beige::testing {
namespace {
constexpr int kPatienceMs = 20000;
}

Client::Client(const std::string& path) {
  auto fd = ConnectUnix(path);
  if (!fd) throw std::runtime_error(fd.error().message);
  fd_ = std::move(*fd);
}

void Client::Send(std::string_view bytes) { (void)SendAll(fd_.get(), bytes); }

void Client::ShutdownWriting() { ::shutdown(fd_.get(), SHUT_WR); }

bool Client::More() {
  pollfd p{fd_.get(), POLLIN, 0};
  if (::poll(&p, 1, kPatienceMs) <= 0) throw std::runtime_error("nothing came in time");
  char chunk[65536];
  const ssize_t n = ::recv(fd_.get(), chunk, sizeof chunk, 0);
  if (n <= 0) return false;
  buffer_.append(chunk, static_cast<size_t>(n));
  return true;
}

std::optional<std::string> Client::Line() {
  size_t searched = 0;
  for (;;) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    searched = buffer_.size();
    if (!More()) return std::nullopt;
  }
}

bool Client::AtEnd() { return buffer_.empty() && !More(); }

std::string Client::Take(size_t n) {
  while (buffer_.size() < n && More()) {
  }
  std::string bytes = buffer_.substr(0, n);
  buffer_.erase(0, bytes.size());
  return bytes;
}

nlohmann::json Client::Ask(const nlohmann::json& request) {
  Send(request.dump() + "\n");
  const auto line = Line();
  return line ? nlohmann::json::parse(*line) : nlohmann::json("closed");
}

nlohmann::json Client::Call(const std::string& tool, std::vector<std::string> args) {
  return Ask({{"type", "tool_request"}, {"tool", tool}, {"args", std::move(args)}});
}

V2Client::V2Client(const std::string& path, uint16_t role) : client_(path) {
  client_.Send(v2::EncodePreamble({.role = role}));
}

V2Client::V2Client(UniqueFd fd, uint16_t role) : client_(std::move(fd)) { client_.Send(v2::EncodePreamble({.role = role})); }

void V2Client::Send(uint32_t call, uint8_t kind, std::string_view payload, uint8_t stream) {
  std::string bytes;
  v2::AppendFrame(bytes, call, kind, payload, stream);
  client_.Send(bytes);
}

std::optional<V2Client::Frame> V2Client::Next() {
  if (!greeted_) {
    if (client_.Take(BGE_PREAMBLE_BYTES).size() < BGE_PREAMBLE_BYTES) return std::nullopt;
    greeted_ = true;
  }
  const std::string head = client_.Take(BGE_HEADER_BYTES);
  if (head.size() < BGE_HEADER_BYTES) return std::nullopt;
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(head[i])); };
  const auto u32 = [&](size_t i) { return byte(i) | byte(i + 1) << 8 | byte(i + 2) << 16 | byte(i + 3) << 24; };
  Frame frame{{u32(0), u32(4), static_cast<uint8_t>(byte(8)), static_cast<uint8_t>(byte(9))}, {}};
  frame.payload = client_.Take(frame.header.length);
  return frame;
}

std::optional<V2Client::Frame> V2Client::NextOf(uint8_t kind) {
  for (;;) {
    auto frame = Next();
    if (!frame || frame->header.kind == kind) return frame;
  }
}

void V2Client::Call(uint32_t call, const std::string& tool, const std::vector<std::string>& args, bool with_stdin) {
  std::string fields;
  v2::AppendField(fields, BGE_TAG_TOOL, tool);
  for (const auto& arg : args) v2::AppendField(fields, BGE_TAG_ARG, arg);
  if (with_stdin) v2::AppendU32Field(fields, BGE_TAG_FLAGS, BGE_FLAG_STDIN);
  Send(call, BGE_CALL, fields);
}

V2Client::Outcome V2Client::Finish(uint32_t call) {
  Outcome outcome;
  for (;;) {
    const auto frame = Next();
    if (!frame) throw std::runtime_error("the stream ended before the call");
    if (frame->header.call != call) continue;
    if (frame->header.kind == BGE_STDOUT || frame->header.kind == BGE_STDERR) {
      const bool out = frame->header.kind == BGE_STDOUT;
      (out ? outcome.out : outcome.err).append(frame->payload);
      std::string credit;
      v2::AppendWindow(credit, call, out ? 1 : 2, frame->header.length);
      client_.Send(credit);
    }
    if (frame->header.kind == BGE_EXIT) {
      outcome.exit = *v2::DecodeExit(frame->payload);
      return outcome;
    }
  }
}

}  // namespace beige::testing
