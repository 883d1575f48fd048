#ifndef BEIGE_API_LLM_READER_H_
#define BEIGE_API_LLM_READER_H_

#include <string_view>

#include "api/config_reader.h"
#include "api/llm_config.h"

namespace beige {

// `llm` of gateway.yaml; problems go to the reader.
LlmConfig LlmOf(ConfigReader& reader, const YamlNode& llm);

std::optional<LlmApi> ParseLlmApi(std::string_view word);
std::string_view LlmApiName(LlmApi api);  // as gateway.yaml has it

}  // namespace beige

#endif
