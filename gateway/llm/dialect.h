#ifndef BEIGE_GATEWAY_LLM_DIALECT_H_
#define BEIGE_GATEWAY_LLM_DIALECT_H_

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "gateway/llm/answer.h"
#include "gateway/llm/codec.h"

namespace beige::llm {

// One dialect's reading: told each event of the stream, it says to the answer what that means.
class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual void OnEvent(std::string_view name, const nlohmann::json& data, Answer& answer) = 0;
};

HttpRequest EncodeAnthropic(const Request& request);
HttpRequest EncodeOpenAiChat(const Request& request, const EncodeOptions& options);
HttpRequest EncodeOpenAiResponses(const Request& request, const EncodeOptions& options);
HttpRequest EncodeGoogle(const Request& request);
std::unique_ptr<Dialect> MakeAnthropic();
std::unique_ptr<Dialect> MakeOpenAiChat();
std::unique_ptr<Dialect> MakeOpenAiResponses();
std::unique_ptr<Dialect> MakeGoogle();

// Reading of what others wrote: a field of another type is as if it were absent.
const nlohmann::json& At(const nlohmann::json& object, const char* key);  // null when absent
std::string Str(const nlohmann::json& object, const char* key);
int64_t Int(const nlohmann::json& object, const char* key);

// Writing. Invalid UTF-8 in texts is replaced.
//
// A conversation is by far the largest part of a request, and grows at its end only. So each message is encoded by itself, once, to items:
// JSON values joined by commas, none or several; and a body is its other members, dumped, with the items put in.
std::string Items(const nlohmann::ordered_json& array);
void AddItems(std::string& items, std::string_view more);
std::string ItemsOf(LlmApi api, const std::vector<MessageRef>& messages, std::string (*encode)(const Message&));
std::string DumpWith(const nlohmann::ordered_json& body, std::string_view key, std::string_view items);
std::string Dump(const nlohmann::ordered_json& value);
nlohmann::ordered_json ObjectOf(const std::string& text);  // a JSON object; {} when it is none
std::string DataUrl(const Image& image);                   // data:image/png;base64,...

}  // namespace beige::llm

#endif
