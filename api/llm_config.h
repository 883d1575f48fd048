#ifndef BEIGE_API_LLM_CONFIG_H_
#define BEIGE_API_LLM_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/secret.h"

namespace beige {

// The wire dialects of model providers. gateway.yaml: anthropic-messages, openai-completions, openai-responses, google-generative-ai.
enum class LlmApi { kAnthropicMessages, kOpenAiCompletions, kOpenAiResponses, kGoogleGenerativeAi };
inline constexpr int kLlmApis = 4;

// US dollars for a million tokens.
struct LlmCost {
  double input = 0;
  double output = 0;
  double cache_read = 0;
  double cache_write = 0;
  bool operator==(const LlmCost&) const = default;
};

struct LlmModelConfig {
  int64_t context_window = 0;  // tokens; 0 = not told
  int64_t max_tokens = 0;      // of an answer; 0 = the provider's own limit
  bool images = false;         // input: [text, image]
  LlmCost cost;
  bool operator==(const LlmModelConfig&) const = default;
};

struct LlmTimeouts {
  std::chrono::milliseconds connect{10'000};       // name, connection and TLS
  std::chrono::milliseconds first_token{120'000};  // from the request to the first thing that a person can see
  std::chrono::milliseconds stall{60'000};         // in the middle of an answer, without a byte
  std::chrono::milliseconds total{3'600'000};      // the whole answer
  std::chrono::milliseconds queue{60'000};         // waiting for one of the provider's places
  bool operator==(const LlmTimeouts&) const = default;
};

struct LlmProviderConfig {
  LlmApi api = LlmApi::kAnthropicMessages;
  std::string base_url;  // without a slash at its end
  Secret api_key;        // empty = none is sent
  int64_t concurrency = 8;
  LlmTimeouts timeouts;
  std::map<std::string, LlmModelConfig> models;  // by the provider's id
  bool operator==(const LlmProviderConfig&) const = default;
};

struct LlmConfig {
  std::string ca_file;  // absolute; "" = the system's bundle
  std::map<std::string, LlmProviderConfig> providers;
  std::vector<std::string> files;  // that it was read from beside gateway.yaml: keys and certificates
  bool operator==(const LlmConfig&) const = default;
};

}  // namespace beige

#endif
