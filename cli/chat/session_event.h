#ifndef BEIGE_CLI_CHAT_SESSION_EVENT_H_
#define BEIGE_CLI_CHAT_SESSION_EVENT_H_

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace beige::cli {

// A field of an object; "" or 0 when it is absent or of another type.
std::string TextIn(const nlohmann::ordered_json& value, const char* key);
int64_t NumberIn(const nlohmann::ordered_json& value, const char* key);
bool TrueIn(const nlohmann::ordered_json& value, const char* key);

struct TokenUsage {
  int64_t input = 0;  // disjoint: input tokens that came from or went to the cache are not in it
  int64_t output = 0;
  int64_t cache_read = 0;
  int64_t cache_write = 0;
  double cost_usd = 0;
  TokenUsage& operator+=(const TokenUsage& other);
  int64_t total() const { return input + output + cache_read + cache_write; }
};
TokenUsage ReadUsage(const nlohmann::ordered_json& value);  // what is not there is 0

// One event of docs/sessions.md. Fields that its kind does not have are empty.
struct SessionEvent {
  enum class Kind { kAccepted, kTurn, kSteer, kModel, kText, kThinking, kWriting, kCall, kOutput, kResult, kUsage, kCompacted, kWaiting, kDone, kError, kAborted, kReset, kOther };
  Kind kind = Kind::kOther;  // kOther: one that this program does not know
  std::string session;
  std::string prompt;
  std::string id;       // of a call
  std::string name;     // of a call; of a model
  std::string text;     // text, thinking, output, result; message of error, waiting and reset
  std::string call;     // kCall: as a person reads it, "exec ls -la"; may hold any character
  std::string stream;   // of output: stdout, stderr
  std::string diff;
  std::string stop;     // of done
  std::string code;     // of error and waiting
  bool is_error = false;
  int64_t ahead = 0;    // of accepted
  int64_t bytes = 0;    // of writing
  int64_t retry_after_ms = 0;  // of error; of waiting: how long
  TokenUsage usage;
};
SessionEvent ReadSessionEvent(std::string_view name, std::string_view data);

// A call in one line: the command of exec, the path of read, write and patch, the words of a tool.
std::string CallText(std::string_view name, const nlohmann::ordered_json& arguments);

// Server-sent events out of bytes that are cut anywhere.
class EventStream {
 public:
  void Feed(std::string_view bytes, const std::function<void(std::string_view name, std::string_view data)>& on_event);

 private:
  std::string line_;
  std::string name_;
  std::string data_;
};

}  // namespace beige::cli

#endif
