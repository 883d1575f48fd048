#include "gateway/http/session_bodies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "gateway/http/query.h"

namespace beige {
namespace {
using ::testing::HasSubstr;

std::string Png() { return Base64Encode(std::string("\x89PNG\r\n\x1a\n") + "rest"); }

struct Wrong {
  const char* body;
  const char* field;
  const char* message;
};
}  // namespace

TEST(PromptBodyTest, EveryFieldIsTaken) {
  const auto body = DecodePromptBody(R"({"text":"look","images":[{"mediaType":"image/png","data":")" + Png() +
                                     R"("}],"session":"s1","model":"a/b/c:d","thinkingLevel":"high","steer":true,"stream":false,"detach":true})");
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(body->prompt.text, "look");
  ASSERT_EQ(body->prompt.images.size(), 1u);
  EXPECT_EQ(body->prompt.images[0].media_type, "image/png");
  EXPECT_EQ(body->prompt.images[0].bytes, std::string("\x89PNG\r\n\x1a\n") + "rest");
  EXPECT_EQ(body->prompt.session, "s1");
  EXPECT_EQ(body->prompt.model, "a/b/c:d");
  EXPECT_EQ(body->prompt.thinking, llm::ThinkingLevel::kHigh);
  EXPECT_TRUE(body->prompt.steer);
  EXPECT_FALSE(body->stream);
  EXPECT_TRUE(body->prompt.detach);
}

TEST(PromptBodyTest, TextAloneIsEnough) {
  const auto body = DecodePromptBody(R"({"text":"hi","model":null,"session":null})");
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_TRUE(body->stream);
  EXPECT_FALSE(body->prompt.detach);
  EXPECT_FALSE(body->prompt.model);
  EXPECT_FALSE(body->prompt.thinking);
  EXPECT_EQ(body->prompt.session, "");
}

TEST(PromptBodyTest, EveryErrorNamesItsField) {
  for (const Wrong& wrong : {
           Wrong{"", "", "want one JSON object"},
           Wrong{"[]", "", "want a JSON object, got array"},
           Wrong{R"({"text":"a","text":"b"})", "text", "given twice"},
           Wrong{"{\"text\":\"\xff\"}", "", "UTF-8"},
           Wrong{"{}", "text", "is missing"},
           Wrong{R"({"text":""})", "text", "is empty"},
           Wrong{R"({"text":7})", "text", "want a string, got number"},
           Wrong{R"({"txt":"hi"})", "txt", "did you mean text?"},
           Wrong{R"({"text":"hi","sesion":"x"})", "sesion", "did you mean session?"},
           Wrong{R"({"text":"hi","zzzzzzzz":1})", "zzzzzzzz", "known here: text, images"},
           Wrong{R"({"text":"hi","session":""})", "session", "leave it out"},
           Wrong{R"({"text":"hi","session":1})", "session", "want a string"},
           Wrong{R"({"text":"hi","model":"gpt"})", "model", "want PROVIDER/ID, got \"gpt\""},
           Wrong{R"({"text":"hi","model":""})", "model", "want PROVIDER/ID"},
           Wrong{R"({"text":"hi","thinkingLevel":"huge"})", "thinkingLevel", "off, minimal, low, medium or high"},
           Wrong{R"({"text":"hi","thinkingLevel":""})", "thinkingLevel", "off, minimal"},
           Wrong{R"({"text":"hi","steer":"yes"})", "steer", "want true or false, got string"},
           Wrong{R"({"text":"hi","steer":true})", "steer", "want the session"},
           Wrong{R"({"text":"hi","stream":1})", "stream", "want true or false"},
           Wrong{R"({"text":"hi","images":{}})", "images", "want a list, got object"},
           Wrong{R"({"text":"hi","images":[1]})", "images[0]", "want an object"},
           Wrong{R"({"text":"hi","images":[{"mediaType":"image/bmp","data":""}]})", "images[0].mediaType", "want image/png"},
           Wrong{R"({"text":"hi","images":[{"data":"AAAA"}]})", "images[0].mediaType", "want image/png"},
           Wrong{R"({"text":"hi","images":[{"mediaType":"image/png"}]})", "images[0].data", "base64"},
           Wrong{R"({"text":"hi","images":[{"mediaType":"image/png","data":"AAA"}]})", "images[0].data", "base64"},
           Wrong{R"({"text":"hi","images":[{"mediaType":"image/png","data":"A=AA"}]})", "images[0].data", "base64"},
           Wrong{R"({"text":"hi","images":[{"mediaType":"image/png","data":" AAA"}]})", "images[0].data", "base64"},
           Wrong{R"({"text":"hi","images":[{"mediaType":"image/png","data":"AAAA"}]})", "images[0].data", "does not begin as image/png"},
           Wrong{R"({"text":"hi","images":[{"mediatype":"image/png","data":"AAAA"}]})", "images[0].mediatype", "did you mean mediaType?"},
           Wrong{R"({"text":"hi","images":[[[[[[[[[1]]]]]]]]]})", "", "nested deeper"},
       }) {
    const auto body = DecodePromptBody(wrong.body);
    ASSERT_FALSE(body) << wrong.body;
    EXPECT_EQ(body.error().field, wrong.field) << wrong.body << " " << body.error().message;
    EXPECT_THAT(body.error().message, HasSubstr(wrong.message)) << wrong.body;
  }
}

TEST(PromptBodyTest, TextAndImagesAreBounded) {
  EXPECT_TRUE(DecodePromptBody("{\"text\":\"" + std::string(kMaxPromptText, 'a') + "\"}"));
  const auto longer = DecodePromptBody("{\"text\":\"" + std::string(kMaxPromptText + 1, 'a') + "\"}");
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().field, "text");
  std::string images;
  for (size_t i = 0; i <= kMaxPromptImages; ++i) images += std::string(i == 0 ? "" : ",") + R"({"mediaType":"image/png","data":")" + Png() + "\"}";
  const auto many = DecodePromptBody(R"({"text":"a","images":[)" + images + "]}");
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().field, "images");
}

TEST(BeigePromptTest, AKeyStandsForOneSessionWhateverIsInIt) {
  const auto with = [](const std::string& key) { return DecodeBeigePrompt(R"({"message":"hi","sessionKey":")" + key + "\"}", "a1")->prompt.session; };
  EXPECT_EQ(with("tui:a1:../../x"), with("tui:a1:../../x"));
  EXPECT_NE(with("a"), with("b"));
  EXPECT_EQ(with("../../x").find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos);
  const auto bare = DecodeBeigePrompt(R"({"message":"hi"})", "a1");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->prompt.session, with("api:a1:default"));
  EXPECT_TRUE(bare->prompt.make);
  EXPECT_EQ(DecodeBeigePrompt("{}", "a1").error().field, "message");
  EXPECT_EQ(DecodeBeigePrompt(R"({"message":"hi","sesionKey":"x"})", "a1").error().field, "sesionKey");
  EXPECT_EQ(DecodeBeigePrompt(R"({"message":"hi","sessionKey":")" + std::string(1001, 'k') + "\"}", "a1").error().field, "sessionKey");
}

TEST(SessionBodiesTest, WhatIsOptionalMayBeLeftOut) {
  EXPECT_TRUE(DecodeNewSessionBody(""));
  EXPECT_TRUE(DecodeNewSessionBody("{}"));
  EXPECT_EQ(DecodeNewSessionBody(R"({"model":"a/b","thinkingLevel":"off"})")->model, "a/b");
  EXPECT_EQ(DecodeAbortBody("").value(), "");
  EXPECT_EQ(DecodeAbortBody(R"({"prompt":"p1"})").value(), "p1");
  EXPECT_EQ(DecodeAbortBody(R"({"prompt":""})").error().field, "prompt") << "an id that a script has lost must not abort everything";
  EXPECT_TRUE(DecodeEmptyBody(""));
  EXPECT_TRUE(DecodeEmptyBody("{}"));
  EXPECT_EQ(DecodeEmptyBody(R"({"keep":3})").error().field, "keep");
  EXPECT_EQ(DecodeModelBody("{}").error().field, "model");
  EXPECT_EQ(DecodeModelBody(R"({"model":"a/b","thinkingLevel":"low"})")->thinking, llm::ThinkingLevel::kLow);
}

TEST(QueryTest, IsAsStrictAsABody) {
  EXPECT_EQ(DecodeQuery("after=3%2D7&", {"after"})->at("after"), "3-7");
  EXPECT_EQ(DecodeQuery("", {"after"})->size(), 0u);
  EXPECT_THAT(DecodeQuery("aftr=1", {"after"}).error().message, HasSubstr("did you mean after?"));
  EXPECT_EQ(DecodeQuery("limit=1&limit=2", {"limit"}).error().field, "limit");
  EXPECT_FALSE(DecodeQuery("limit=%zz", {"limit"}));
  EXPECT_FALSE(DecodeQuery("limit=%ff", {"limit"}));
  EXPECT_EQ(NumberOf({{"limit", "12"}}, "limit", 100).value(), 12u);
  EXPECT_EQ(NumberOf({}, "limit", 100).value(), 0u);
  for (const char* text : {"", "-1", "1x", "101", "99999999999999999999", " 1"}) EXPECT_FALSE(NumberOf({{"limit", text}}, "limit", 100)) << text;
}

}  // namespace beige
