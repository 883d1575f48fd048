#include "gateway.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/files.h"
#include "base/unix_socket.h"

namespace beige::testing {

bool Peer::Fill() {
  pollfd entry{fd_.get(), POLLIN, 0};
  if (::poll(&entry, 1, 20000) <= 0) return false;
  char buffer[65536];
  const ssize_t n = ::recv(fd_.get(), buffer, sizeof buffer, 0);
  if (n <= 0) return false;
  reader_.Feed({buffer, static_cast<size_t>(n)});
  return true;
}

bool Peer::Greet() {
  std::string bytes(BGE_PREAMBLE_BYTES, '\0');
  if (::recv(fd_.get(), bytes.data(), bytes.size(), MSG_WAITALL) != static_cast<ssize_t>(bytes.size())) return false;
  const auto decoded = v2::DecodePreamble(bytes);
  if (!decoded) return false;
  preamble = *decoded;
  return SendRaw(v2::EncodePreamble(v2::AnswerTo(preamble)));
}

std::optional<Peer::Frame> Peer::Next() {
  for (;;) {
    const auto frame = reader_.Next();
    if (!frame) return std::nullopt;
    if (*frame) return Frame{(*frame)->header, std::string((*frame)->payload)};
    if (!Fill()) return std::nullopt;
  }
}

std::optional<Peer::Frame> Peer::NextOf(std::initializer_list<int> kinds) {
  while (auto frame = Next()) {
    if (std::find(kinds.begin(), kinds.end(), frame->header.kind) != kinds.end()) return frame;
  }
  return std::nullopt;
}

bool Peer::SendRaw(std::string_view bytes) { return SendAll(fd_.get(), bytes).has_value(); }

bool Peer::Send(uint8_t kind, std::string_view payload, uint8_t stream) {
  std::string out;
  v2::AppendFrame(out, 1, kind, payload, stream);
  return SendRaw(out);
}

void Peer::Exit(uint8_t how, int32_t code, std::string text) { Send(BGE_EXIT, v2::EncodeExit({how, code, std::move(text)})); }

void Peer::Credit(uint8_t stream, uint32_t bytes) {
  std::string out;
  v2::AppendWindow(out, 1, stream, bytes);
  SendRaw(out);
}

std::vector<std::string> TestGateway::Exec::All(int tag) const {
  std::vector<std::string> values;
  const auto [first, last] = fields.equal_range(tag);
  for (auto it = first; it != last; ++it) values.push_back(it->second);
  return values;
}

std::string TestGateway::Exec::One(int tag) const {
  const auto it = fields.find(tag);
  return it == fields.end() ? "" : it->second;
}

TestGateway::TestGateway(const Home& home, Script script) : stop_(::eventfd(0, EFD_CLOEXEC)) {
  EXPECT_TRUE(MakeDirs(home.paths().RunDir(), 0700));
  auto listener = ListenUnix(home.paths().CliSocket(), 0600);
  if (!listener) std::abort();
  listener_ = std::move(*listener);
  thread_ = std::thread([this, script = std::move(script)] {
    pollfd entries[] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    ::poll(entries, 2, 20000);
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd) return;
    Peer peer(std::move(fd));
    if (!peer.Greet()) return;
    const auto frame = peer.NextOf({BGE_EXEC});
    if (!frame) return;
    Exec exec;
    const auto fields = v2::DecodeFields(frame->payload);
    if (!fields) return;
    for (const auto& field : *fields) exec.fields.emplace(field.tag, std::string(field.value));
    script(peer, exec);
  });
}

TestGateway::~TestGateway() {
  const uint64_t one = 1;
  static_cast<void>(::write(stop_.get(), &one, sizeof one) > 0);
  thread_.join();
}

}  // namespace beige::testing
