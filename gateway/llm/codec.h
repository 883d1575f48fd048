#ifndef BEIGE_GATEWAY_LLM_CODEC_H_
#define BEIGE_GATEWAY_LLM_CODEC_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/llm/answer.h"
#include "gateway/llm/event.h"
#include "gateway/llm/model.h"
#include "gateway/llm/sse.h"

// The four wire dialects, pure: a request to the HTTP request of a provider, and the bytes of its answer to events.
namespace beige::llm {

struct HttpRequest {
  std::string path;  // behind the base URL, with its query
  std::vector<std::pair<std::string, std::string>> headers;  // none of them secret
  std::string body;  // JSON
};

struct EncodeOptions {
  // The provider is OpenAI itself: it takes max_completion_tokens and prompt_cache_key, which servers that are only compatible refuse or
  // don't know.
  bool openai_itself = false;
};

HttpRequest Encode(LlmApi api, const Request& request, const EncodeOptions& options = {});

// The header that carries the key: {"x-api-key", ""}, {"authorization", "Bearer "}, {"x-goog-api-key", ""}: name, and what stands before
// the key.
std::pair<std::string, std::string> AuthHeader(LlmApi api);

// Turns one answer's bytes into events: a stream of server-sent events after a status 200. How the bytes are cut makes no difference.
class Dialect;
class Decoder {
 public:
  Decoder(LlmApi api, Sink sink);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  void Feed(std::string_view bytes);
  void End();  // the bytes came to their end
  void Break(Failure failure);  // they did not: Failed, unless all that matters had come
  bool ended() const { return answer_.ended(); }
  const Usage& usage() const { return answer_.usage(); }  // what is known of it so far

 private:
  void OnEvent(std::string_view name, std::string_view data);

  SseParser sse_;
  Answer answer_;
  std::unique_ptr<Dialect> dialect_;
};

}  // namespace beige::llm

#endif
