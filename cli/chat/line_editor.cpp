// The one file that pays for libedit.
#include <histedit.h>
#include <langinfo.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cli/chat/line_source.h"
#include "cli/report.h"

namespace beige::cli {
namespace {
// Pasted newlines and tabs stand in the line as these, so that a paste of several lines is one line to edit.
constexpr wchar_t kNewlineSign = 0x2424;
constexpr wchar_t kTabSign = 0x2409;
constexpr std::string_view kPasteBegin = "\x1b[200~";
constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr int kHistorySize = 1000;

std::string ToUtf8(std::wstring_view text) {
  std::string out;
  for (const wchar_t w : text) {
    const auto c = static_cast<uint32_t>(w);
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += static_cast<char>(0xc0 | (c >> 6));
      out += static_cast<char>(0x80 | (c & 63));
    } else if (c < 0x10000) {
      out += static_cast<char>(0xe0 | (c >> 12));
      out += static_cast<char>(0x80 | ((c >> 6) & 63));
      out += static_cast<char>(0x80 | (c & 63));
    } else {
      out += static_cast<char>(0xf0 | (c >> 18));
      out += static_cast<char>(0x80 | ((c >> 12) & 63));
      out += static_cast<char>(0x80 | ((c >> 6) & 63));
      out += static_cast<char>(0x80 | (c & 63));
    }
  }
  return out;
}

// Takes one character from the front of `bytes`; false when its rest has not come yet. What is no UTF-8 becomes U+FFFD.
bool TakeCharacter(std::string& bytes, wchar_t* out) {
  if (bytes.empty()) return false;
  const auto lead = static_cast<unsigned char>(bytes[0]);
  const size_t length = lead < 0x80 ? 1 : lead >= 0xf0 && lead < 0xf5 ? 4 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xc2 && lead < 0xe0 ? 2 : 0;
  uint32_t value = length == 1 ? lead : length == 0 ? 0xfffd : lead & (0xffu >> (length + 1));
  size_t used = 1;
  for (; length > 1 && used < length; ++used) {
    if (used == bytes.size()) return false;
    const auto next = static_cast<unsigned char>(bytes[used]);
    if ((next & 0xc0) != 0x80) {
      value = 0xfffd;
      break;
    }
    value = (value << 6) | (next & 63);
  }
  bytes.erase(0, used);
  *out = static_cast<wchar_t>(value);
  return true;
}

std::wstring ToWide(std::string bytes) {
  std::wstring out;
  for (wchar_t c = 0; TakeCharacter(bytes, &c);) out += c;
  return out;
}

class LineEditor : public LineSource {
 public:
  LineEditor(CaughtSignals& signals, EditorOptions options) : signals_(signals), options_(std::move(options)), history_(history_winit()) {
    // libedit writes characters as the locale says; the gateway speaks UTF-8 whatever it says.
    std::setlocale(LC_CTYPE, "");
    if (std::strcmp(::nl_langinfo(CODESET), "UTF-8") != 0) std::setlocale(LC_CTYPE, "C.UTF-8");
    prompt_ = ToWide(options_.colour ? "\x01\x1b[1m\x01" + options_.prompt + "\x01\x1b[0m\x01" : options_.prompt);
    HistEventW event{};
    history_w(history_, &event, H_SETSIZE, kHistorySize);
    history_w(history_, &event, H_SETUNIQUE, 1);
    for (const auto& line : LoadHistory(options_.history_file)) history_w(history_, &event, H_ENTER, ToWide(line).c_str());
    editor_ = el_init("beige", stdin, stdout, stderr);
    if (editor_ == nullptr) return;
    el_wset(editor_, EL_CLIENTDATA, this);
    el_wset(editor_, EL_EDITOR, L"emacs");
    el_wset(editor_, EL_SIGNAL, 0);
    el_wset(editor_, EL_PROMPT_ESC, &LineEditor::Prompt, L'\x01');
    el_wset(editor_, EL_HIST, history_w, history_);
    el_wset(editor_, EL_GETCFN, &LineEditor::GetCharacter);
    el_wset(editor_, EL_ADDFN, L"beige-complete", L"completes a command", &LineEditor::Complete);
    el_wset(editor_, EL_BIND, L"^I", L"beige-complete", nullptr);
    el_wset(editor_, EL_BIND, L"^R", L"em-inc-search-prev", nullptr);
    const char* term = std::getenv("TERM");
    pastes_ = term != nullptr && std::strcmp(term, "dumb") != 0;
  }
  ~LineEditor() override {
    if (editor_ != nullptr) el_end(editor_);
    history_wend(history_);
  }
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  TypedLine Read() override {
    if (editor_ == nullptr) return {"", true, 0};
    signal_ = 0;
    if (pastes_) Print("\x1b[?2004h");
    int count = 0;
    const wchar_t* typed = el_wgets(editor_, &count);
    if (pastes_) Print("\x1b[?2004l");
    if (signal_ != 0) {
      Print("\n");
      return {"", false, signal_};
    }
    if (typed == nullptr || count <= 0) {
      Print("\n");
      return {"", true, 0};
    }
    std::wstring line(typed, static_cast<size_t>(count));
    while (!line.empty() && (line.back() == L'\n' || line.back() == L'\r')) line.pop_back();
    Remember(line);
    std::replace(line.begin(), line.end(), kNewlineSign, L'\n');
    std::replace(line.begin(), line.end(), kTabSign, L'\t');
    return {ToUtf8(line), false, 0};
  }

 private:
  static LineEditor& Of(EditLine* editor) {
    void* self = nullptr;
    el_wget(editor, EL_CLIENTDATA, &self);
    return *static_cast<LineEditor*>(self);
  }
  static wchar_t* Prompt(EditLine* editor) { return Of(editor).prompt_.data(); }
  static int GetCharacter(EditLine* editor, wchar_t* out) { return Of(editor).Next(out); }
  static unsigned char Complete(EditLine* editor, int) { return Of(editor).CompleteWord(); }

  void Remember(const std::wstring& line) {
    if (line.find_first_not_of(L' ') == std::wstring::npos || line == last_) return;
    last_ = line;
    HistEventW event{};
    history_w(history_, &event, H_ENTER, line.c_str());
    if (!options_.history_file.empty()) AppendHistory(options_.history_file, ToUtf8(line));
  }

  // As libedit wants it: 1 = a character, 0 = end of file, -1 = leave the line.
  int Next(wchar_t* out) {
    for (;;) {
      if (FromBytes(out)) return 1;
      const int got = Fill(-1);
      if (got <= 0) return got;
    }
  }

  bool FromBytes(wchar_t* out) {
    if (bytes_.starts_with('\x1b')) {
      // A terminal sends the whole sequence at once; a person who presses Esc sends one byte.
      const auto begins = [&](std::string_view what) { return std::string_view(bytes_).substr(0, what.size()) == what.substr(0, bytes_.size()); };
      const std::string_view mark = pasting_ ? kPasteEnd : kPasteBegin;
      while (begins(mark) && bytes_.size() < mark.size() && Fill(50) > 0) {
      }
      if (bytes_.starts_with(mark)) {
        bytes_.erase(0, mark.size());
        pasting_ = !pasting_;
        return FromBytes(out);
      }
    }
    if (!pasting_) return TakeCharacter(bytes_, out);
    while (TakeCharacter(bytes_, out)) {
      if (*out == L'\r' && bytes_.starts_with('\n')) continue;
      if (*out == L'\r' || *out == L'\n') *out = kNewlineSign;
      if (*out == L'\t') *out = kTabSign;
      if (*out >= 0x20 && *out != 0x7f && !(*out >= 0x80 && *out < 0xa0)) return true;
      if (bytes_.starts_with('\x1b')) return FromBytes(out);
    }
    return false;
  }

  // Waits for bytes, or for a signal: 1 = bytes, 0 = end of file or none in time, -1 = a signal that ends the line.
  int Fill(int wait) {
    for (;;) {
      pollfd entries[] = {{STDIN_FILENO, POLLIN, 0}, {signals_.fd(), POLLIN, 0}};
      if (::poll(entries, 2, wait) == 0) return 0;
      while (const int signal = signals_.Read()) {
        if (signal == SIGWINCH) {
          el_resize(editor_);
        } else if (signal == SIGCONT) {
          el_wset(editor_, EL_PREP_TERM, 1);
          el_wset(editor_, EL_REFRESH);
        } else {
          signal_ = signal;
          bytes_.clear();
          pasting_ = false;
          errno = EINTR;
          return -1;
        }
      }
      if (entries[0].revents == 0) continue;
      char chunk[4096];
      const ssize_t n = ::read(STDIN_FILENO, chunk, sizeof chunk);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return 0;
      bytes_.append(chunk, static_cast<size_t>(n));
      return 1;
    }
  }

  unsigned char CompleteWord() {
    const LineInfoW* line = el_wline(editor_);
    const std::string typed = ToUtf8({line->buffer, static_cast<size_t>(line->cursor - line->buffer)});
    if (!typed.starts_with('/') || typed.find(' ') != std::string::npos) return CC_REFRESH_BEEP;
    std::string common;
    size_t matches = 0;
    for (const auto& word : options_.words) {
      if (!word.starts_with(typed)) continue;
      const auto end = std::mismatch(common.begin(), common.end(), word.begin(), word.end()).first;
      common = ++matches == 1 ? word : std::string(common.begin(), end);
    }
    if (matches == 1) common += ' ';
    if (common.size() <= typed.size()) return CC_REFRESH_BEEP;
    el_winsertstr(editor_, ToWide(common.substr(typed.size())).c_str());
    return CC_REFRESH;
  }

  CaughtSignals& signals_;
  const EditorOptions options_;
  HistoryW* history_;
  EditLine* editor_ = nullptr;
  std::wstring prompt_;
  std::wstring last_;
  std::string bytes_;  // read and not taken yet
  bool pasting_ = false;
  bool pastes_ = false;
  int signal_ = 0;
};
}  // namespace

std::unique_ptr<LineSource> MakeLineEditor(CaughtSignals& signals, EditorOptions options) { return std::make_unique<LineEditor>(signals, std::move(options)); }

}  // namespace beige::cli
