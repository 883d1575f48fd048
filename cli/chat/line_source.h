#ifndef BEIGE_CLI_CHAT_LINE_SOURCE_H_
#define BEIGE_CLI_CHAT_LINE_SOURCE_H_

#include <memory>
#include <string>
#include <vector>

#include "cli/chat/signals.h"

namespace beige::cli {

struct TypedLine {
  std::string text;    // UTF-8, without its end; may hold newlines that were pasted
  bool ended = false;  // no more lines: end of file, or Ctrl-D on an empty one
  int signal = 0;      // came instead of a line
};

// Where the person's lines come from. Signals are waited for together with the keys.
class LineSource {
 public:
  virtual ~LineSource() = default;
  virtual TypedLine Read() = 0;
};

struct EditorOptions {
  std::string prompt;        // as it is shown, without escapes
  bool colour = false;
  std::string history_file;  // 0600; "" = none is kept
  std::vector<std::string> words;  // that Tab completes at the beginning of a line
};
// On a terminal: with editing, history and pasting of several lines.
std::unique_ptr<LineSource> MakeLineEditor(CaughtSignals& signals, EditorOptions options);
// A file or a pipe: line by line, silent.
std::unique_ptr<LineSource> MakePlainLines(CaughtSignals& signals);

// The lines of the last chats, oldest first; a file that has grown long is cut to its newest lines.
std::vector<std::string> LoadHistory(const std::string& file);
void AppendHistory(const std::string& file, const std::string& line);

}  // namespace beige::cli

#endif
