#include "tests/gateway/llm/streams.h"

namespace beige::llm {
namespace {
constexpr LlmApi kAnthropic = LlmApi::kAnthropicMessages;
constexpr LlmApi kChat = LlmApi::kOpenAiCompletions;
constexpr LlmApi kResponses = LlmApi::kOpenAiResponses;
constexpr LlmApi kGoogle = LlmApi::kGoogleGenerativeAi;
const std::string kCut = "failed protocol: the answer ended without saying why: it was cut";

const char* const kAnthropicFull = R"(event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":7,"cache_read_input_tokens":100,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm. "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig=="}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"secret=="}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Grüße\n"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"\"a\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: content_block_start
data: {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"now","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_stop
data: {"type":"content_block_stop","index":4}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}

event: message_stop
data: {"type":"message_stop"}

)";

const char* const kChatFull = R"(: OPENROUTER PROCESSING

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-x","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":"Hm."},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-x","choices":[{"index":0,"delta":{"content":"Hi \u00fc"},"finish_reason":null},{"index":1,"delta":{"content":"other"}}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"read","arguments":""}}]},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-x","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"exec","arguments":"{\"command\":"}},{"index":0,"function":{"arguments":"{\"path\":\"a\"}"}}]},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-x","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"\"true\"}"}}]},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-x","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-x","choices":[],"usage":{"prompt_tokens":110,"completion_tokens":20,"total_tokens":130,"prompt_tokens_details":{"cached_tokens":100},"completion_tokens_details":{"reasoning_tokens":5}}}

data: [DONE]

)";

const char* const kResponsesFull = R"(event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","model":"gpt-y","status":"in_progress","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}

event: response.reasoning_summary_part.added
data: {"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"Hm."}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"encrypted_content":"enc","id":"rs_1","summary":[],"type":"reasoning"}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}

event: response.content_part.added
data: {"type":"response.content_part.added","output_index":1,"content_index":0,"part":{"type":"output_text","text":""}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"Hi"}

event: response.output_text.done
data: {"type":"response.output_text.done","output_index":1,"content_index":0,"text":"Hi"}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_a","name":"read","arguments":""}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":3,"item":{"id":"fc_2","type":"function_call","call_id":"call_b","name":"exec","arguments":""}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":3,"delta":"{\"command\":\"true\"}"}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"{\"path\""}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_a","name":"read","arguments":"{\"path\":\"a\"}"}}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":3,"item":{"id":"fc_2","type":"function_call","call_id":"call_b","name":"exec","arguments":"{\"command\":\"true\"}"}}

event: response.completed
data: {"type":"response.completed","response":{"id":"resp_1","status":"completed","usage":{"input_tokens":40,"input_tokens_details":{"cached_tokens":30},"output_tokens":12,"output_tokens_details":{"reasoning_tokens":4},"total_tokens":52}}}

)";

const char* const kGoogleFull = "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"Hm.\",\"thought\": true}],\"role\": \"model\"},\"index\": 0}],\"usageMetadata\": {\"promptTokenCount\": 50,\"totalTokenCount\": 50},\"modelVersion\": \"gemini-x\",\"responseId\": \"r1\"}\r\n\r\n"
    "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"Hi\"},{\"functionCall\": {\"name\": \"read\",\"args\": {\"path\": \"a\"}},\"thoughtSignature\": \"sig==\"},{\"functionCall\": {\"id\": \"own\",\"name\": \"now\"}}],\"role\": \"model\"},\"finishReason\": \"STOP\",\"index\": 0}],\"usageMetadata\": {\"promptTokenCount\": 50,\"candidatesTokenCount\": 9,\"cachedContentTokenCount\": 40,\"thoughtsTokenCount\": 3,\"totalTokenCount\": 62},\"modelVersion\": \"gemini-x\",\"responseId\": \"r1\"}\r\n\r\n";

std::string Chat(const std::string& choice) { return "data: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[" + choice + "]}\n\n"; }
std::string Anthropic(const std::string& rest) {
  return "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"model\":\"m\",\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n" + rest;
}
const std::string kChatText = Chat(R"({"index":0,"delta":{"content":"Hi"}})");
const std::string kChatCall = Chat(R"({"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"exec","arguments":"{\"command\":\"tru"}}]}})");
const std::string kAnthropicCall =
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"exec\",\"input\":{}}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}\n\n";
}  // namespace

const std::vector<Stream>& Streams() {
  static const std::vector<Stream> streams = {
      {"AnthropicFull", kAnthropic, kAnthropicFull,
       {"started msg_1 claude-x", "thinking Hm. ", "thought sig==", "thought secret== redacted", "text Grüße\n", "call 0 toolu_1 read", "args 0 {\"path\":", "args 0 \"a\"}",
        "call 1 toolu_2 now", "run 0 toolu_1 read {\"path\":\"a\"}", "run 1 toolu_2 now {}", "usage 25+100+7 -> 89 (0)", "stopped tool_use tool_use"}},
      {"ChatFull", kChat, kChatFull,
       {"started c1 gpt-x", "thinking Hm.", "thought ", "text Hi ü", "call 0 call_a read", "call 1 call_b exec", "args 1 {\"command\":", "args 0 {\"path\":\"a\"}", "args 1 \"true\"}",
        "run 0 call_a read {\"path\":\"a\"}", "run 1 call_b exec {\"command\":\"true\"}", "usage 10+100+0 -> 20 (5)", "stopped tool_use tool_calls"}},
      {"ResponsesFull", kResponses, kResponsesFull,
       {"started resp_1 gpt-y", "thinking Hm.", "thought {\"encrypted_content\":\"enc\",\"id\":\"rs_1\",\"summary\":[],\"type\":\"reasoning\"}", "text Hi", "call 0 call_a read",
        "call 1 call_b exec", "args 1 {\"command\":\"true\"}", "args 0 {\"path\"", "run 0 call_a read {\"path\":\"a\"}", "run 1 call_b exec {\"command\":\"true\"}",
        "usage 10+30+0 -> 12 (4)", "stopped tool_use completed"}},
      {"GoogleFull", kGoogle, kGoogleFull,
       {"started r1 gemini-x", "thinking Hm.", "thought ", "text Hi", "call 0 r1_0 read", "args 0 {\"path\":\"a\"}", "call 1 own now", "args 1 {}", "run 0 r1_0 read {\"path\":\"a\"} sig==",
        "run 1 own now {}", "usage 10+40+0 -> 12 (3)", "stopped tool_use STOP"}},

      {"ChatWithoutDone", kChat, kChatText + Chat(R"({"index":0,"delta":{},"finish_reason":"stop"})"), {"started c1 m", "text Hi", "stopped end stop"}},
      {"ChatLastEventWithoutItsEmptyLine", kChat, kChatText + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n", {"started c1 m", "text Hi", "stopped end stop"}},
      {"ChatMissingEnd", kChat, kChatText, {"started c1 m", "text Hi", kCut}},
      {"ChatDoneButNoReason", kChat, kChatText + "data: [DONE]\n\n", {"started c1 m", "text Hi", kCut}},
      {"ChatEmptyStream", kChat, "", {"failed protocol: the answer is empty"}},
      {"ChatOnlyComments", kChat, ": hi\n\n: hi\n\n", {"failed protocol: the answer is empty"}},
      {"ChatOnlyDone", kChat, "data: [DONE]\n\n", {"failed protocol: the answer is empty"}},
      {"ChatStopsWithoutContent", kChat, Chat(R"({"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"})") + "data: [DONE]\n\n",
       {"started c1 m", "failed protocol: the answer is empty"}},
      {"ChatGarbage", kChat, "data: {not json at all\n\ndata: [[[\n\n", {"failed protocol: an event of the stream is not a JSON object"}},
      {"ChatErrorAfter200", kChat, kChatText + "data: {\"error\":{\"message\":\"busy\",\"type\":\"server_error\",\"code\":503}}\n\n", {"started c1 m", "text Hi", "failed overloaded: busy"}},
      {"ChatErrorAsText", kChat, "data: {\"error\":\"boom\"}\n\n", {"failed protocol: boom"}},
      {"ChatCallWithBadJson", kChat, kChatCall + Chat(R"({"index":0,"delta":{},"finish_reason":"tool_calls"})") + "data: [DONE]\n\n",
       {"started c1 m", "call 0 a exec", "args 0 {\"command\":\"tru", "broken 0 a exec: the arguments are not a JSON object; the call was not run", "stopped tool_use tool_calls"}},
      {"ChatCallCutByTheLimit", kChat, kChatCall + Chat(R"({"index":0,"delta":{},"finish_reason":"length"})") + "data: [DONE]\n\n",
       {"started c1 m", "call 0 a exec", "args 0 {\"command\":\"tru", "broken 0 a exec: the answer was cut before the call was complete; it was not run", "stopped max_tokens length"}},
      {"ChatCallsThatShareAnIndex", kChat,
       Chat(R"({"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}},{"index":0,"id":"b","function":{"name":"y","arguments":"{}"}}]},"finish_reason":"stop"})"),
       {"started c1 m", "call 0 a x", "args 0 {}", "call 1 b y", "args 1 {}", "run 0 a x {}", "run 1 b y {}", "stopped tool_use stop"}},
      {"ChatRefusal", kChat, Chat(R"({"index":0,"delta":{"refusal":"No."},"finish_reason":"stop"})"), {"started c1 m", "text No.", "stopped refused stop"}},
      {"ChatFieldsOfWrongTypes", kChat, "data: {\"id\":7,\"model\":[],\"choices\":{\"a\":1},\"usage\":3}\n\ndata: {\"choices\":[7,null,{\"index\":\"x\",\"delta\":{\"content\":5,\"tool_calls\":[1]}}]}\n\n",
       {"started  ", "call 0 call_0 ", kCut}},

      {"AnthropicErrorAfter200", kAnthropic, Anthropic("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"),
       {"started m1 m", "usage 3+0+0 -> 1 (0)", "failed overloaded: Overloaded"}},
      {"AnthropicCutInACall", kAnthropic, Anthropic(kAnthropicCall), {"started m1 m", "call 0 t1 exec", "args 0 {}", "usage 3+0+0 -> 1 (0)", kCut}},
      {"AnthropicCallUnderTheLimit", kAnthropic, Anthropic(kAnthropicCall + "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_tokens\":9}}\n\ndata: {\"type\":\"message_stop\"}\n\n"),
       {"started m1 m", "call 0 t1 exec", "args 0 {}", "broken 0 t1 exec: the answer was cut before the call was complete; it was not run", "usage 3+0+0 -> 9 (0)", "stopped max_tokens max_tokens"}},
      {"AnthropicRefusal", kAnthropic, Anthropic("data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"),
       {"started m1 m", "usage 3+0+0 -> 1 (0)", "stopped refused refusal"}},

      {"ResponsesFailed", kResponses, "data: {\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"slow down\"}}}\n\n",
       {"started r ", "failed rate_limit: slow down"}},
      {"ResponsesError", kResponses, "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"oops\",\"param\":null}\n\n", {"failed overloaded: oops"}},
      {"ResponsesIncomplete", kResponses,
       "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"Hi\"}\n\ndata: {\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":{\"reason\":\"max_output_tokens\"}}}\n\n",
       {"started  ", "text Hi", "stopped max_tokens max_output_tokens"}},
      {"ResponsesCut", kResponses, "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"Hi\"}\n\n", {"started  ", "text Hi", kCut}},

      {"GoogleErrorAfter200", kGoogle, "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}\n\n", {"failed overloaded: The model is overloaded."}},
      {"GoogleBlockedPrompt", kGoogle, "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"},\"responseId\":\"r\"}\n\n", {"started r ", "failed bad_request: the provider blocked the prompt: SAFETY"}},
      {"GoogleMalformedCall", kGoogle, "data: {\"candidates\":[{\"finishReason\":\"MALFORMED_FUNCTION_CALL\"}]}\n\n",
       {"started  ", "failed protocol: the model wrote a tool call that its provider could not read (MALFORMED_FUNCTION_CALL)"}},
      {"GoogleCut", kGoogle, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"x\",\"args\":{}}}]}}]}\n\n", {"started  ", "call 0 call_0 x", "args 0 {}", kCut}},
      {"GoogleSafety", kGoogle, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}]},\"finishReason\":\"SAFETY\"}]}\n\n", {"started  ", "text Hi", "stopped refused SAFETY"}},
  };
  return streams;
}

std::vector<std::string> EventsOf(LlmApi api, const std::vector<std::string>& parts) {
  std::vector<std::string> events;
  Decoder decoder(api, [&](const Event& event) { events.push_back(Describe(event)); });
  for (const std::string& part : parts) decoder.Feed(part);
  decoder.End();
  return events;
}

}  // namespace beige::llm
