#include "cli/documents.h"

#include <gmock/gmock.h>

namespace beige::cli {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DocumentsTest, KeepsEachDocumentAsItStandsWithItsComments) {
  EXPECT_THAT(SplitDocuments("# one\na: 1\n---\n# two\nb: |\n  text\n   ---\n"), ElementsAre("# one\na: 1\n", "# two\nb: |\n  text\n   ---\n"));
}

TEST(DocumentsTest, LeavesOutDocumentsOfBlanksAndComments) {
  EXPECT_THAT(SplitDocuments("---\n\n# nothing\n---\na: 1\n---\n...\n"), ElementsAre("a: 1\n"));
  EXPECT_THAT(SplitDocuments("# only this\n"), IsEmpty());
  EXPECT_THAT(SplitDocuments(""), IsEmpty());
}

TEST(DocumentsTest, UnderstandsSeparatorsWithContentAndWindowsLineEnds) {
  EXPECT_THAT(SplitDocuments("--- {a: 1}\n---\r\nb: 2\r\n"), ElementsAre("{a: 1}\n", "b: 2\r\n"));
  EXPECT_THAT(SplitDocuments("\xef\xbb\xbf" "a: 1"), ElementsAre("a: 1\n"));
  EXPECT_THAT(SplitDocuments("---a: 1\n"), ElementsAre("---a: 1\n"));
}

}  // namespace
}  // namespace beige::cli
