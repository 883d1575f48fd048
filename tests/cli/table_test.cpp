#include "cli/table.h"

#include <gtest/gtest.h>

#include "cli/audit.h"
#include "cli/report.h"

namespace beige::cli {
namespace {

TEST(TableTest, AlignsColumnsByCharactersAndLeavesNoTrailingBlanks) {
  Table table({"NAME", "REASON"});
  table.Add({"a", "Ä"});
  table.Add({"größer", ""});
  EXPECT_EQ(table.Render(), "NAME     REASON\na        Ä\ngrößer\n");
}

TEST(TableTest, MakesControlCharactersVisible) {
  Table table({"A"});
  table.Add({"\x1b[2Jx\ny"});
  EXPECT_EQ(table.Render(false), "\\x1b[2Jx\\ny\n");
  EXPECT_EQ(Printable("tab\there"), "tab\\there");
  EXPECT_EQ(Printable("\xc2\x9b" "2J \xc3\xa9"), "\\xc2\\x9b" "2J \xc3\xa9") << "a control character of two bytes, and a letter that is none";
}

TEST(TableTest, RoundsAgesDown) {
  const auto now = ParseTime("2026-11-29T12:00:00.000Z").value();
  for (const auto& [time, want] : {std::pair{"2026-11-29T12:00:05.000Z", "0s"}, {"2026-11-29T11:58:01.000Z", "119s"}, {"2026-11-29T11:57:59.000Z", "2m"},
                                   {"2026-11-29T09:59:00.000Z", "2h"}, {"2026-11-20T12:00:00.000Z", "9d"}, {"soon", "<unknown>"}}) {
    EXPECT_EQ(Age(time, now), want) << time;
  }
}

TEST(AuditFormatTest, ShowsBeginEndDenialAndNoteAsOneLineEach) {
  const std::string begin = FormatAuditRecord(
      R"({"ts":"2026-11-29T12:00:00.123Z","id":"01J","event":"begin","namespace":"default","agent":"a1","surface":"socket","kind":"tool","tool":"kv","args":["set","a b","\u001b[0m"],"decision":"allow"})");
  EXPECT_NE(begin.find("kv set \"a b\" "), std::string::npos) << begin;
  EXPECT_EQ(begin.find('\x1b'), std::string::npos);
  const std::string denied = FormatAuditRecord(R"({"event":"begin","namespace":"team","agent":"a1","tool":"git","args":[],"decision":"deny","reason":"not in tools of agent a1"})");
  EXPECT_NE(denied.find("team/a1"), std::string::npos);
  EXPECT_NE(denied.find("deny"), std::string::npos);
  EXPECT_NE(denied.find("git: not in tools of agent a1"), std::string::npos) << denied;
  const std::string end = FormatAuditRecord(
      R"({"event":"end","agent":"a1","tool":"kv","outcome":"ok","durationUs":1812,"exitCode":3,"signal":null,"stdinBytes":0,"stdoutBytes":5,"stderrBytes":7})");
  EXPECT_NE(end.find("kv ok, exit 3, 1.8ms, in 0 out 5 err 7"), std::string::npos) << end;
  const std::string cut = FormatAuditRecord(R"({"event":"begin","tool":"kv","args":{"cut":true,"bytes":5000,"sha256":"ab"},"decision":"allow"})");
  EXPECT_NE(cut.find("kv (5000 bytes of arguments, not kept)"), std::string::npos) << cut;
  EXPECT_EQ(FormatAuditRecord("not\x07json"), "not\\x07json");
}

}  // namespace
}  // namespace beige::cli
