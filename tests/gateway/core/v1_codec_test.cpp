#include "gateway/link/v1_codec.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace beige {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

TEST(JsonTextTest, WritesStringsAsNlohmannDoes) {
  const std::string cases[] = {
      "", "plain", "with \"quotes\" and \\ and /", "line\nfeed\r\t\b\f", std::string("nul\0inside", 10), "\x01\x1f\x7f", "\xC3\xA9t\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
      "\xFF", "a\xC3", "\xC3\x28", "\xE2\x82", "\xE2\x28\xA1", "\xED\xA0\x80", "\xF0\x9F\x98", "\xF4\x90\x80\x80", "\xC0\xAF", "\x80\x80", "ok\xE2\x82\xAC\xFFok", "\xF0\x80\x80\xAF"};
  for (const std::string& text : cases) {
    EXPECT_EQ(Quoted(text), nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  // Every pair and many triples of bytes.
  unsigned seed = 1;
  for (int i = 0; i < 200000; ++i) {
    std::string text;
    for (int n = 0; n < 4; ++n) {
      seed = seed * 1103515245u + 12345u;
      const unsigned pick = seed >> 16;
      text += static_cast<char>(pick % 3 == 0 ? 0x80 + pick % 0x80 : pick % 3 == 1 ? 0xC0 + pick % 0x40 : pick % 0x80);
    }
    ASSERT_EQ(Quoted(text), nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
}

TEST(V1CodecTest, ReadsARequest) {
  const auto request = v1::Decode(
      R"({"type":"tool_request","tool":"kv","args":["get","a b","\u00e9"],"cwd":"sub/dir","sessionContext":{"sessionKey":"s1","channel":"tui","x":{"y":[1]}},"id":7,"more":{"a":[{}]}})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->tool, "kv");
  EXPECT_EQ(request->args, (std::vector<std::string>{"get", "a b", "\xC3\xA9"}));
  EXPECT_EQ(request->cwd, "sub/dir");
  EXPECT_EQ(request->session_key, "s1");
  EXPECT_EQ(request->channel, "tui");
  EXPECT_EQ(request->id, "7");
}

TEST(V1CodecTest, EchoesIdsInTheirOwnForm) {
  const std::pair<const char*, const char*> cases[] = {{"7", "7"}, {"\"a\\\"b\"", "\"a\\\"b\""}, {"-1", "-1"}, {"1.5", "1.5"}, {"null", "null"}, {"true", "true"}};
  for (const auto& [given, echoed] : cases) {
    const auto request = v1::Decode(std::string(R"({"type":"tool_request","tool":"t","id":)") + given + "}");
    ASSERT_TRUE(request) << given;
    EXPECT_EQ(request->id, echoed);
  }
}

TEST(V1CodecTest, TakesNullForWhatIsOptional) {
  const auto request = v1::Decode(R"({"type":"tool_request","tool":"t","args":null,"cwd":null,"sessionContext":null})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_TRUE(request->args.empty());
}

TEST(V1CodecTest, NamesWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "unexpected end of input"},
      {"nonsense", "parse error"},
      {"[]", "request: want an object, got an array"},
      {"7", "request: want an object, got 7"},
      {"{}", "type: want \"tool_request\", got nothing"},
      {R"({"type":"other","tool":"t"})", "type: want \"tool_request\", got \"other\""},
      {R"({"type":null,"tool":"t"})", "type: want a string, got null"},
      {R"({"type":"tool_request"})", "tool: want the name of a tool, got nothing"},
      {R"({"type":"tool_request","tool":7})", "tool: want a string, got 7"},
      {R"({"type":"tool_request","tool":{"a":1}})", "tool: want a string, got an object"},
      {R"({"type":"tool_request","tool":"t","args":"x"})", "args: want a list of strings, got a string"},
      {R"({"type":"tool_request","tool":"t","args":[1]})", "args: want a list of strings, got 1"},
      {R"({"type":"tool_request","tool":"t","args":[["x"]]})", "args: want a list of strings, got an array"},
      {R"({"type":"tool_request","tool":"t","args":[{"x":1}]})", "args: want a list of strings, got an object"},
      {R"({"type":"tool_request","tool":"t","cwd":["x"]})", "cwd: want a string, got an array"},
      {R"({"type":"tool_request","tool":"t","sessionContext":"x"})", "sessionContext: want an object, got a string"},
      {R"({"type":"tool_request","tool":"t","sessionContext":{"sessionKey":7}})", "sessionContext.sessionKey: want a string, got 7"},
      {R"({"type":"tool_request","tool":"t","id":{}})", "id: want a string or a number, got an object"},
      {R"({"type":"tool_request","tool":"t","tool":"u"})", "tool: given twice"},
      {R"({"type":"tool_request","tool":"t"} x)", "parse error"},
      {"{\"type\":\"tool_request\",\"tool\":\"\xFF\"}", "invalid string"},
  };
  for (const auto& [line, message] : cases) {
    const auto request = v1::Decode(line);
    ASSERT_FALSE(request) << line;
    EXPECT_NE(request.error().message.find(message), std::string::npos) << line << " -> " << request.error().message;
  }
}

TEST(V1CodecTest, DeepNestingIsRefusedCheaply) {
  const std::string deep = R"({"type":"tool_request","tool":"t","x":)" + std::string(300000, '[');
  const auto request = v1::Decode(deep);
  ASSERT_FALSE(request);
  EXPECT_NE(request.error().message.find("nested deeper than 32"), std::string::npos);
}

TEST(V1CodecTest, AnswersAreJsonLines) {
  std::string out;
  v1::AppendResult(out, "\"x\"", "a\xFF\n", "warn", 3, "exit status 3");
  auto json = nlohmann::json::parse(out);
  EXPECT_EQ(out.back(), '\n');
  EXPECT_EQ(json, (nlohmann::json{{"type", "tool_response"}, {"id", "x"}, {"success", false}, {"output", "a\xEF\xBF\xBD\n"}, {"stderr", "warn"}, {"error", "exit status 3"}, {"exitCode", 3}}));
  out.clear();
  v1::AppendResult(out, "", "done", "", 0, "");
  EXPECT_EQ(out, "{\"type\":\"tool_response\",\"success\":true,\"output\":\"done\",\"exitCode\":0}\n");
  out.clear();
  v1::AppendError(out, "7", 126, "no");
  EXPECT_EQ(out, "{\"type\":\"tool_response\",\"id\":7,\"success\":false,\"error\":\"no\",\"exitCode\":126}\n");
}

}  // namespace
}  // namespace beige
