#ifndef BEIGE_TESTS_CLI_GATEWAY_H_
#define BEIGE_TESTS_CLI_GATEWAY_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "home.h"
#include "protocol/v2_codec.h"

namespace beige::testing {

// The gateway's end of run/cli.sock: speaks real v2 with the blocking calls of one thread. Reads give up after 20 s.
class Peer {
 public:
  explicit Peer(UniqueFd fd) : fd_(std::move(fd)) {}

  struct Frame {
    v2::FrameHeader header;
    std::string payload;
  };
  bool Greet();                  // takes the preamble and answers it
  std::optional<Frame> Next();   // nullopt at the end of the stream
  // The next frame of one of the kinds; others on the way are dropped.
  std::optional<Frame> NextOf(std::initializer_list<int> kinds);
  bool Send(uint8_t kind, std::string_view payload, uint8_t stream = 0);
  bool SendRaw(std::string_view bytes);
  void Exit(uint8_t how, int32_t code, std::string text = "");
  void Credit(uint8_t stream, uint32_t bytes);

  v2::Preamble preamble;

 private:
  bool Fill();
  UniqueFd fd_;
  v2::FrameReader reader_;
};

// Serves one connection on a thread; the script is called after the greeting with the EXEC frame's fields.
class TestGateway {
 public:
  struct Exec {
    std::multimap<int, std::string> fields;
    std::vector<std::string> All(int tag) const;
    std::string One(int tag) const;  // "" when absent
  };
  using Script = std::function<void(Peer&, const Exec&)>;
  TestGateway(const Home& home, Script script);
  ~TestGateway();

 private:
  UniqueFd listener_;
  UniqueFd stop_;
  std::thread thread_;
};

}  // namespace beige::testing

#endif
