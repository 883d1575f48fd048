#include "gateway/sessions/transcript.h"

#include <gtest/gtest.h>

#include "gateway/sessions/compaction_text.h"

namespace beige::sessions {
namespace {
using llm::Role;

// Builds a file line by line, as a session writes it.
class File {
 public:
  File& Add(Record record) {
    const Line line{n_++, "2026-11-30T00:00:00.000Z", std::move(record)};
    text_ += EncodeLine(line);
    return *this;
  }
  File& Turn(const std::string& prompt, const std::string& text) {
    return Add(Said{prompt, "local", text, {}}).Add(TurnBegun{prompt, ++turns_});
  }
  File& Says(const std::string& text, llm::Usage usage = {}) {
    Answered answer;
    answer.model = "p/m";
    answer.message.parts = {llm::Text{text}};
    answer.stop = "end";
    answer.usage = usage;
    return Add(answer);
  }
  File& Calls(const std::vector<std::string>& ids) {
    Answered answer;
    for (const std::string& id : ids) answer.message.parts.emplace_back(llm::ToolCall{id, "exec", R"({"command":"ls"})", "", std::nullopt});
    return Add(answer);
  }
  File& Result(const std::string& id, const std::string& text) { return Add(Resulted{{id, "exec", text, {}, false}, ""}); }
  File& End(const std::string& prompt) {
    TurnEnded end;
    end.prompt = prompt;
    end.outcome = "done";
    return Add(end);
  }
  File& Raw(const std::string& text) {
    text_ += text;
    return *this;
  }
  Transcript Read() const { return Transcript::Read(text_); }
  const std::string& text() const { return text_; }
  int64_t next() const { return n_; }

 private:
  std::string text_;
  int64_t n_ = 1;
  int64_t turns_ = 0;
};

std::string Shape(const std::vector<llm::MessageRef>& messages) {
  std::string out;
  for (const llm::MessageRef& message : messages) {
    out += message->role == Role::kUser ? " user(" : " model(";
    for (const llm::Part& part : message->parts) {
      if (const auto* text = std::get_if<llm::Text>(&part)) out += text->text.substr(0, 20) + ";";
      if (const auto* call = std::get_if<llm::ToolCall>(&part)) out += "call " + call->id + ";";
      if (const auto* result = std::get_if<llm::ToolResult>(&part)) out += "result " + result->call_id + ";";
      if (std::holds_alternative<llm::Image>(part)) out += "image;";
    }
    out += ")";
  }
  return out.empty() ? out : out.substr(1);
}

File Begin() { return File().Add(Begun{"s1", "default", "a1", "uid-1"}); }

TEST(TranscriptTest, AConversationIsToldInItsOrder) {
  File file = Begin().Turn("p1", "list files").Calls({"c1", "c2"}).Result("c2", "b").Result("c1", "a").Says("two files").End("p1");
  const Transcript transcript = file.Read();
  EXPECT_EQ(Shape(transcript.messages()), "user(list files;) model(call c1;call c2;) user(result c2;result c1;) model(two files;)");
  EXPECT_EQ(transcript.turns(), 1);
  EXPECT_EQ(transcript.title(), "list files");
  EXPECT_EQ(transcript.running(), "");
  EXPECT_EQ(transcript.next_line(), file.next());
  EXPECT_EQ(transcript.begun().agent_uid, "uid-1");
}

TEST(TranscriptTest, EveryFieldOfARecordComesBack) {
  File file = Begin();
  Answered answer;
  answer.model = "p/m";
  answer.message.parts = {llm::Thinking{"hm", "sig", false, LlmApi::kAnthropicMessages}, llm::Text{"t \x01\n\xe2\x82\xac"},
                          llm::ToolCall{"c1", "exec", "{}", "gs", LlmApi::kGoogleGenerativeAi}};
  answer.notes = {"a note"};
  answer.stop = "tool_use";
  answer.usage = {1, 2, 3, 4, 5, 0.25};
  file.Add(answer);
  llm::ToolResult result{"c1", "read", "text", {{"image/png", std::string("\0\x89PNG", 5)}}, true};
  file.Add(Resulted{result, "-a\n+b"}).Add(ModelSet{"p/m2", "high"});
  const Transcript transcript = file.Read();
  ASSERT_EQ(transcript.messages().size(), 2u);
  EXPECT_EQ(*transcript.messages()[0], answer.message);
  EXPECT_EQ(transcript.messages()[1]->parts[0], llm::Part(llm::Text{"a note"}));
  EXPECT_EQ(transcript.messages()[1]->parts[1], llm::Part(result));
  EXPECT_EQ(transcript.total(), answer.usage);
  EXPECT_EQ(transcript.model(), "p/m2");
  EXPECT_EQ(transcript.thinking(), "high");
}

TEST(TranscriptTest, WhatACrashLeftOpenIsKnown) {
  const Transcript transcript = Begin().Turn("p1", "go").Calls({"c1", "c2"}).Result("c1", "a").Add(Said{"p2", "local", "and then", {}}).Read();
  EXPECT_EQ(transcript.running(), "p1");
  ASSERT_EQ(transcript.open_calls().size(), 1u);
  EXPECT_EQ(transcript.open_calls()[0].id, "c2");
  ASSERT_EQ(transcript.waiting().size(), 1u);
  EXPECT_EQ(transcript.waiting()[0].text, "and then");
}

// At every byte: what was whole counts, the torn end never.
TEST(TranscriptTest, AFileCutAnywhereIsReadUpToItsLastWholeLine) {
  const std::string text = Begin().Turn("p1", "hello \xe2\x82\xac").Calls({"c1"}).Result("c1", "x").Says("done").End("p1").text();
  size_t whole = 0;
  for (size_t size = 0; size < text.size(); ++size) {
    if (size > 0 && text[size - 1] == '\n') whole = size;
    const Transcript cut = Transcript::Read(std::string_view(text).substr(0, size));
    const Transcript want = Transcript::Read(std::string_view(text).substr(0, text[size] == '\n' ? size : whole));
    EXPECT_EQ(Shape(cut.messages()), Shape(want.messages())) << size;
    EXPECT_EQ(cut.running(), want.running()) << size;
  }
}

TEST(TranscriptTest, PiecesOfAnAnswerCountOnlyWhereItIsMissing) {
  const Partial piece{"p/m", 1, "on"};
  File file = Begin().Turn("p1", "go").Add(piece).Says("one").Add(piece).Add(piece);
  ASSERT_TRUE(file.Read().cut_answer());
  EXPECT_EQ(file.Read().cut_answer()->message.parts, (std::vector<llm::Part>{llm::Text{"onon"}}));
  EXPECT_EQ(Shape(file.Read().messages()), "user(go;) model(one;)");
  EXPECT_FALSE(file.End("p1").Read().cut_answer());
  // Nothing is kept of one that comes now.
  Transcript live = Begin().Turn("p1", "go").Read();
  live.Apply({live.next_line(), "", piece});
  EXPECT_FALSE(live.cut_answer());
}

TEST(TranscriptTest, LinesThatAreNoRecordsAndTypesOfALaterVersionArePassedOver) {
  const Transcript transcript = Begin().Raw("{\"v\":1,\"n\":2,\"ty\n").Raw("[]\n\n").Raw("{\"v\":9,\"type\":\"hologram\",\"n\":7}\n").Raw("{\"type\":\"answer\",\"parts\":5}\n").Turn("p1", "hi").Read();
  EXPECT_EQ(Shape(transcript.messages()), "user(hi;)");
}

TEST(TranscriptTest, TwoUserMessagesInARowBecomeOne) {
  Answered nothing;
  nothing.unfinished = "overloaded";
  const Transcript transcript = Begin().Turn("p1", "one").Add(nothing).End("p1").Turn("p2", "two").Says("ok").Read();
  EXPECT_EQ(Shape(transcript.messages()), "user(one;two;) model(ok;)");
}

TEST(TranscriptTest, APromptThatWasTakenBackIsNotTold) {
  const Transcript transcript = Begin().Add(Said{"p1", "local", "no", {}}).Add(Dropped{"p1"}).Turn("p2", "yes").Read();
  EXPECT_EQ(Shape(transcript.messages()), "user(yes;)");
  EXPECT_TRUE(transcript.waiting().empty());
}

TEST(TranscriptTest, ASummaryReplacesWhatCameBefore) {
  File file = Begin().Turn("p1", "first").Says("one").End("p1").Turn("p2", "second");
  const auto cut = file.Read().CutFor(40);
  ASSERT_TRUE(cut);
  EXPECT_EQ(Shape(file.Read().Before(*cut)), "user(first;) model(one;)");
  file.Add(Compacted{"in short", *cut, {}}).Says("two");
  EXPECT_EQ(Shape(file.Read().messages()), "user(Summary of the conve;second;) model(two;)");
}

// For every size: no call loses its result, and what is kept is a valid conversation.
TEST(TranscriptTest, NoCutPartsACallFromItsResult) {
  File file = Begin();
  for (int turn = 0; turn < 4; ++turn) {
    const std::string t = std::to_string(turn);
    file.Turn("p" + t, "do " + t).Calls({"a" + t, "b" + t}).Result("a" + t, std::string(100, 'x')).Result("b" + t, std::string(300, 'y')).Calls({"c" + t}).Result("c" + t, "z").Says("ok").End("p" + t);
  }
  const Transcript whole = file.Read();
  for (size_t bytes = 0; bytes < 4000; bytes += 7) {
    const auto cut = whole.CutFor(bytes);
    if (!cut) continue;
    File shorter = file;
    const Transcript after = shorter.Add(Compacted{"s", *cut, {}}).Read();
    std::vector<std::string> open;
    for (const llm::MessageRef& message : after.messages()) {
      for (const llm::Part& part : message->parts) {
        if (const auto* call = std::get_if<llm::ToolCall>(&part)) open.push_back(call->id);
        if (const auto* result = std::get_if<llm::ToolResult>(&part)) {
          EXPECT_EQ(std::erase(open, result->call_id), 1u) << bytes;
        }
      }
    }
    EXPECT_TRUE(open.empty()) << bytes;
    EXPECT_EQ(after.messages().front()->role, Role::kUser);
  }
  EXPECT_FALSE(whole.CutFor(1 << 20));
}

TEST(TranscriptTest, TokensAreWhatTheProviderCountedAndAnEstimateOfTheRest) {
  File file = Begin().Turn("p1", "x").Says("y", {100, 20, 300, 7, 0, 0});
  EXPECT_EQ(file.Read().context_tokens(), 427);
  file.Turn("p2", std::string(400, 'z'));
  EXPECT_EQ(file.Read().context_tokens(), 527);
}

TEST(TranscriptTest, ATitleIsTheFirstLineAndNeverCutsACharacter) {
  EXPECT_EQ(TitleOf("\n  Hello there\nmore"), "Hello there");
  std::string euros;
  for (int i = 0; i < 40; ++i) euros += "\xe2\x82\xac";
  EXPECT_EQ(TitleOf(euros).size(), 60u + 3u);
  EXPECT_EQ(TitleOf("x" + euros).size(), 58u + 3u);
}

TEST(NarrateTest, ALongConversationLosesItsMiddleAndAResultItsEnd) {
  std::vector<llm::MessageRef> messages = {{Role::kUser, {llm::Text{"the goal"}}},
                                           {Role::kAssistant, {llm::ToolCall{"c", "exec", "{}", "", std::nullopt}}},
                                           {Role::kUser, {llm::ToolResult{"c", "exec", std::string(5000, 'r'), {}, true}}}};
  const std::string text = Narrate(messages, 1 << 20);
  EXPECT_NE(text.find("User: the goal"), std::string::npos);
  EXPECT_NE(text.find("Agent calls exec {}"), std::string::npos);
  EXPECT_NE(text.find("It failed: rrr"), std::string::npos);
  EXPECT_LT(text.size(), 2200u);
  for (int i = 0; i < 100; ++i) messages.insert(messages.begin() + 1, {Role::kAssistant, {llm::Text{std::string(1000, 'm')}}});
  const std::string cut = Narrate(messages, 10000);
  EXPECT_LT(cut.size(), 10100u);
  EXPECT_TRUE(cut.starts_with("User: the goal"));
  EXPECT_NE(cut.find("bytes left out"), std::string::npos);
}
}  // namespace
}  // namespace beige::sessions
