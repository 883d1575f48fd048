#ifndef BEIGE_TESTS_GATEWAY_CORE_CLIENT_H_
#define BEIGE_TESTS_GATEWAY_CORE_CLIENT_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "protocol/v2_codec.h"

namespace beige::testing {

// A blocking client of a Unix socket with deadlines.
class Client {
 public:
  explicit Client(const std::string& path);
  explicit Client(UniqueFd fd) : fd_(std::move(fd)) {}

  void Send(std::string_view bytes);  // gives up silently when the other end is gone
  void ShutdownWriting();
  void Close() { fd_.Reset(); }
  std::optional<std::string> Line();   // without its newline; nullopt at the end
  bool AtEnd();                        // waits for the end of the stream; false if bytes come instead
  std::string Take(size_t n);          // exactly n bytes, fewer at the end
  int fd() const { return fd_.get(); }

  // v1
  nlohmann::json Ask(const nlohmann::json& request);
  nlohmann::json Call(const std::string& tool, std::vector<std::string> args = {});

 private:
  bool More();
  UniqueFd fd_;
  std::string buffer_;
};

// The same in protocol v2.
class V2Client {
 public:
  struct Frame {
    v2::FrameHeader header;
    std::string payload;
  };
  struct Outcome {
    std::string out;
    std::string err;
    v2::Exit exit;
  };
  V2Client(const std::string& path, uint16_t role);
  V2Client(UniqueFd fd, uint16_t role);  // speaks first, as a PID 1 does

  void Send(uint32_t call, uint8_t kind, std::string_view payload, uint8_t stream = 0);
  std::optional<Frame> Next();  // nullopt at the end
  std::optional<Frame> NextOf(uint8_t kind);
  void Call(uint32_t call, const std::string& tool, const std::vector<std::string>& args = {}, bool with_stdin = false);
  // Gathers until EXIT of `call`, giving credit as it reads.
  Outcome Finish(uint32_t call);
  Client& raw() { return client_; }

 private:
  Client client_;
  bool greeted_ = false;
};

}  // namespace beige::testing

#endif
