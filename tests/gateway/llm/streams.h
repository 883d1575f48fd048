#ifndef BEIGE_TESTS_GATEWAY_LLM_STREAMS_H_
#define BEIGE_TESTS_GATEWAY_LLM_STREAMS_H_

#include <string>
#include <vector>

#include "gateway/llm/codec.h"

namespace beige::llm {

// One answer, byte by byte as its provider sends it, and what it means.
struct Stream {
  std::string name;
  LlmApi api;
  std::string bytes;
  std::vector<std::string> events;  // as Describe() has them
};

const std::vector<Stream>& Streams();

// What a decoder makes of the parts, fed one after the other and then ended.
std::vector<std::string> EventsOf(LlmApi api, const std::vector<std::string>& parts);

}  // namespace beige::llm

#endif
