#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gateway/llm/codec.h"

namespace beige::llm {
namespace {
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// A turn with everything in it: an image, thoughts of two providers, two calls with results, one of them an error and one with an image.
Request Everything() {
  Request request;
  request.model = "m/1:x";
  request.system = "Be brief.";
  request.messages = {
      {Role::kUser, {Text{"Look"}, Image{"image/png", "PNG"}}},
      {Role::kAssistant,
       {Thinking{"Hm.", "sig", false, LlmApi::kAnthropicMessages}, Thinking{"", "red", true, LlmApi::kAnthropicMessages},
        Thinking{"", R"({"type":"reasoning","id":"rs_1","encrypted_content":"enc"})", false, LlmApi::kOpenAiResponses}, Text{"Reading."},
        ToolCall{"a", "read", R"({"path":"x"})", "gsig", LlmApi::kGoogleGenerativeAi}, ToolCall{"b", "exec", R"({"command":"true"})", "", std::nullopt}}},
      {Role::kUser, {ToolResult{"a", "read", "", {Image{"image/png", "PNG"}}, false}, ToolResult{"b", "exec", "no", {}, true}, Text{"Go on"}}},
  };
  request.tools = {{"read", "Reads", R"({"type":"object","properties":{"path":{"type":"string"}}})"}, {"now", "Time", "{}"}};
  request.max_tokens = 20000;
  request.thinking = ThinkingLevel::kMedium;
  request.cache_key = "s1";
  return request;
}

json BodyOf(LlmApi api, const Request& request, const EncodeOptions& options = {}) { return json::parse(Encode(api, request, options).body); }
}  // namespace

TEST(EncodeTest, Anthropic) {
  const HttpRequest request = Encode(LlmApi::kAnthropicMessages, Everything());
  EXPECT_EQ(request.path, "/v1/messages");
  EXPECT_THAT(request.headers, ::testing::Contains(std::pair<std::string, std::string>("anthropic-version", "2023-06-01")));
  EXPECT_EQ(json::parse(request.body), json::parse(R"({
    "model": "m/1:x", "max_tokens": 20000, "stream": true,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
      {"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "UE5H"}}]},
      {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "sig"}, {"type": "redacted_thinking", "data": "red"}, {"type": "text", "text": "Reading."},
        {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}}, {"type": "tool_use", "id": "b", "name": "exec", "input": {"command": "true"}}]},
      {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "UE5H"}}]},
        {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "no"}], "is_error": true},
        {"type": "text", "text": "Go on", "cache_control": {"type": "ephemeral"}}]}],
    "tools": [
      {"name": "read", "description": "Reads", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}},
      {"name": "now", "description": "Time", "input_schema": {}, "cache_control": {"type": "ephemeral"}}],
    "thinking": {"type": "enabled", "budget_tokens": 8192}})"));
}

TEST(EncodeTest, AnthropicThinksOnlyWithinTheLimitOfTheAnswer) {
  Request request = Everything();
  request.thinking = ThinkingLevel::kHigh;
  request.max_tokens = 4000;
  EXPECT_EQ(BodyOf(LlmApi::kAnthropicMessages, request)["thinking"]["budget_tokens"], 4000 - 1024);
  request.max_tokens = 1500;
  EXPECT_FALSE(BodyOf(LlmApi::kAnthropicMessages, request).contains("thinking"));
  request.max_tokens = 0;
  EXPECT_EQ(BodyOf(LlmApi::kAnthropicMessages, request)["max_tokens"], 4096);
}

TEST(EncodeTest, AnthropicWithoutCachingMarksNothing) {
  Request request = Everything();
  request.cache = false;
  EXPECT_THAT(Encode(LlmApi::kAnthropicMessages, request).body, Not(HasSubstr("cache_control")));
}

TEST(EncodeTest, OpenAiChat) {
  const HttpRequest request = Encode(LlmApi::kOpenAiCompletions, Everything());
  EXPECT_EQ(request.path, "/chat/completions");
  EXPECT_EQ(json::parse(request.body), json::parse(R"({
    "model": "m/1:x", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 20000, "reasoning_effort": "medium",
    "messages": [
      {"role": "system", "content": "Be brief."},
      {"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}}]},
      {"role": "assistant", "content": "Reading.", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"x\"}"}},
        {"id": "b", "type": "function", "function": {"name": "exec", "arguments": "{\"command\":\"true\"}"}}]},
      {"role": "tool", "tool_call_id": "a", "content": ""},
      {"role": "tool", "tool_call_id": "b", "content": "no"},
      {"role": "user", "content": [{"type": "text", "text": "Image from read:"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}}, {"type": "text", "text": "Go on"}]}],
    "tools": [
      {"type": "function", "function": {"name": "read", "description": "Reads", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}},
      {"type": "function", "function": {"name": "now", "description": "Time", "parameters": {}}}]})"));
}

TEST(EncodeTest, OpenAiItselfGetsItsOwnFields) {
  const json body = BodyOf(LlmApi::kOpenAiCompletions, Everything(), {.openai_itself = true});
  EXPECT_EQ(body["max_completion_tokens"], 20000);
  EXPECT_FALSE(body.contains("max_tokens"));
  EXPECT_EQ(body["prompt_cache_key"], "s1");
}

TEST(EncodeTest, APlainPromptIsAPlainText) {
  Request request;
  request.model = "m";
  request.messages = {{Role::kUser, {Text{"Hi"}}}};
  EXPECT_EQ(BodyOf(LlmApi::kOpenAiCompletions, request)["messages"], json::parse(R"([{"role": "user", "content": "Hi"}])"));
  for (const LlmApi api : {LlmApi::kAnthropicMessages, LlmApi::kOpenAiCompletions, LlmApi::kOpenAiResponses, LlmApi::kGoogleGenerativeAi}) {
    EXPECT_FALSE(BodyOf(api, request).contains("tools"));
  }
}

TEST(EncodeTest, OpenAiResponses) {
  const HttpRequest request = Encode(LlmApi::kOpenAiResponses, Everything());
  EXPECT_EQ(request.path, "/responses");
  EXPECT_EQ(json::parse(request.body), json::parse(R"({
    "model": "m/1:x", "stream": true, "store": false, "instructions": "Be brief.", "max_output_tokens": 20000,
    "reasoning": {"effort": "medium", "summary": "auto"}, "include": ["reasoning.encrypted_content"],
    "input": [
      {"role": "user", "content": [{"type": "input_text", "text": "Look"}, {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,UE5H"}]},
      {"type": "reasoning", "id": "rs_1", "encrypted_content": "enc"},
      {"role": "assistant", "content": [{"type": "output_text", "text": "Reading."}]},
      {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{\"path\":\"x\"}"},
      {"type": "function_call", "call_id": "b", "name": "exec", "arguments": "{\"command\":\"true\"}"},
      {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,UE5H"}]},
      {"type": "function_call_output", "call_id": "b", "output": "no"},
      {"role": "user", "content": [{"type": "input_text", "text": "Go on"}]}],
    "tools": [
      {"type": "function", "name": "read", "description": "Reads", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}, "strict": false},
      {"type": "function", "name": "now", "description": "Time", "parameters": {}, "strict": false}]})"));
}

TEST(EncodeTest, Google) {
  const HttpRequest request = Encode(LlmApi::kGoogleGenerativeAi, Everything());
  EXPECT_EQ(request.path, "/models/m%2F1%3Ax:streamGenerateContent?alt=sse");
  EXPECT_EQ(json::parse(request.body), json::parse(R"({
    "contents": [
      {"role": "user", "parts": [{"text": "Look"}, {"inlineData": {"mimeType": "image/png", "data": "UE5H"}}]},
      {"role": "model", "parts": [{"text": "Reading."}, {"functionCall": {"name": "read", "args": {"path": "x"}}, "thoughtSignature": "gsig"},
        {"functionCall": {"name": "exec", "args": {"command": "true"}}}]},
      {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"output": ""}}}, {"functionResponse": {"name": "exec", "response": {"error": "no"}}},
        {"text": "Go on"}, {"inlineData": {"mimeType": "image/png", "data": "UE5H"}}]}],
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "tools": [{"functionDeclarations": [
      {"name": "read", "description": "Reads", "parametersJsonSchema": {"type": "object", "properties": {"path": {"type": "string"}}}},
      {"name": "now", "description": "Time", "parametersJsonSchema": {}}]}],
    "generationConfig": {"maxOutputTokens": 20000, "thinkingConfig": {"includeThoughts": true, "thinkingBudget": 8192}}})"));
}

TEST(EncodeTest, BytesThatAreNoUtf8DoNotBreakTheRequest) {
  Request request = Everything();
  request.messages.push_back({Role::kUser, {ToolResult{"c", "exec", "a\xff\xfe" "b", {}, false}}});
  for (const LlmApi api : {LlmApi::kAnthropicMessages, LlmApi::kOpenAiCompletions, LlmApi::kOpenAiResponses, LlmApi::kGoogleGenerativeAi}) {
    EXPECT_TRUE(json::accept(Encode(api, request).body));
  }
}

TEST(ModelNameTest, SplitsAtTheFirstSlash) {
  EXPECT_EQ(*ParseModelName("openrouter/qwen/qwen3:8b"), (ModelName{"openrouter", "qwen/qwen3:8b"}));
  for (const char* text : {"", "x", "/x", "x/"}) EXPECT_FALSE(ParseModelName(text)) << text;
}

TEST(ModelNameTest, ThinkingLevelsHaveWords) {
  EXPECT_EQ(ParseThinkingLevel("high"), ThinkingLevel::kHigh);
  EXPECT_EQ(ThinkingLevelName(ThinkingLevel::kMinimal), "minimal");
  EXPECT_EQ(ParseThinkingLevel("higher"), std::nullopt);
}

}  // namespace beige::llm
