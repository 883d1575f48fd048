#include "gateway/llm/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gateway/llm/streams.h"

namespace beige::llm {
namespace {
using ::testing::HasSubstr;

Fold Folded(const std::string& name) {
  for (const Stream& stream : Streams()) {
    if (stream.name != name) continue;
    Fold fold(stream.api);
    Decoder decoder(stream.api, [&](const Event& event) { fold.Add(event); });
    decoder.Feed(stream.bytes);
    decoder.End();
    return fold;
  }
  ADD_FAILURE() << name;
  return Fold(LlmApi::kOpenAiCompletions);
}

std::string SentAgain(LlmApi api, const Fold& fold) {
  Request request;
  request.messages = {{Role::kUser, {Text{"Hi"}}}, fold.message()};
  return Encode(api, request).body;
}
}  // namespace

TEST(FoldTest, AnAnswerBecomesAMessageInItsOrder) {
  const LlmApi api = LlmApi::kAnthropicMessages;
  const Fold fold = Folded("AnthropicFull");
  const std::vector<Part> want = {Thinking{"Hm. ", "sig==", false, api}, Thinking{"", "secret==", true, api}, Text{"Grüße\n"},
                                  ToolCall{"toolu_1", "read", R"({"path":"a"})", "", api}, ToolCall{"toolu_2", "now", "{}", "", api}};
  EXPECT_EQ(fold.message().parts, want);
  EXPECT_EQ(fold.usage().output, 89);
}

TEST(FoldTest, WhatAProviderWantsToSeeAgainIsSentAgain) {
  EXPECT_THAT(SentAgain(LlmApi::kAnthropicMessages, Folded("AnthropicFull")), HasSubstr(R"({"type":"thinking","thinking":"Hm. ","signature":"sig=="},{"type":"redacted_thinking","data":"secret=="})"));
  EXPECT_THAT(SentAgain(LlmApi::kOpenAiResponses, Folded("ResponsesFull")), HasSubstr(R"({"encrypted_content":"enc","id":"rs_1","summary":[],"type":"reasoning"})"));
  EXPECT_THAT(SentAgain(LlmApi::kGoogleGenerativeAi, Folded("GoogleFull")), HasSubstr(R"({"functionCall":{"name":"read","args":{"path":"a"}},"thoughtSignature":"sig=="})"));
}

TEST(FoldTest, AnotherProviderSeesNothingOfIt) {
  for (const char* name : {"AnthropicFull", "ResponsesFull", "GoogleFull"}) {
    const std::string sent = SentAgain(LlmApi::kOpenAiCompletions, Folded(name));
    for (const char* secret : {"sig==", "secret==", "enc", "Hm."}) EXPECT_EQ(sent.find(secret), std::string::npos) << name << " " << sent;
  }
}

TEST(FoldTest, ABrokenCallIsNotInTheMessage) {
  const Fold fold = Folded("ChatCallWithBadJson");
  EXPECT_TRUE(fold.Calls().empty());
  ASSERT_EQ(fold.broken().size(), 1u);
  EXPECT_EQ(fold.broken()[0].name, "exec");
}

}  // namespace beige::llm
