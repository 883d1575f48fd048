#ifndef BEIGE_CLI_CHAT_TERMINAL_TEXT_H_
#define BEIGE_CLI_CHAT_TERMINAL_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace beige::cli {

// Makes text of a model or of a command fit for a terminal, piece by piece: control characters are made visible (cli/report.h), newlines
// and tabs stay. A character that is cut between two pieces waits for its rest. Carriage returns are dropped before a newline and become
// newlines elsewhere, so that nothing is written over what stands there.
class TerminalText {
 public:
  std::string Feed(std::string_view piece);
  std::string End();  // what waited for a rest that never came

 private:
  std::string held_;
};

// Feed and End in one.
std::string ForTerminal(std::string_view text);

// At most `width` characters, the last of them "..." when it was longer.
std::string Cut(std::string_view text, size_t width);

std::string CountText(int64_t count);  // 940, 12.3k, 4.1M
std::string BytesText(int64_t bytes);  // 940 bytes, 12.3 KB, 4.1 MB
std::string CostText(double usd);      // $0.0042, $1.25; "" for none

// What stands between escapes; "" where there is no colour.
struct Palette {
  const char* bold = "";
  const char* dim = "";
  const char* red = "";
  const char* green = "";
  const char* cyan = "";
  const char* off = "";
  static Palette Of(bool colour);
};

// Lines of a unified diff, coloured, at most `most` of them; what is left out is counted. Ends with a newline unless empty.
std::string DiffText(std::string_view diff, const Palette& palette, size_t most);

}  // namespace beige::cli

#endif
