#ifndef BEIGE_GATEWAY_SESSIONS_RECORD_H_
#define BEIGE_GATEWAY_SESSIONS_RECORD_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "gateway/llm/event.h"
#include "gateway/llm/model.h"

// What a session's file is made of: one JSON object a line, {"v":1,"n":LINE,"ts":"...","type":"...",...}. A reader passes over types and
// fields that it does not know, and over a line that is no record (the torn end of a crash).
namespace beige::sessions {

struct Begun {  // the first line
  std::string id;
  std::string namespace_;
  std::string agent;
  std::string agent_uid;
};

struct Said {  // accepted; its turn may come much later
  std::string prompt;
  std::string actor;
  std::string text;
  std::vector<llm::Image> images;
  bool steer = false;
  bool detach = false;  // runs although nobody waits for it any more, after a restart too
};

struct TurnBegun {  // the prompt becomes part of the conversation; once more for the same one: its turn goes on after a restart
  std::string prompt;
  int64_t turn = 0;
};

struct Steered {  // so does this one, in the middle of a turn
  std::string prompt;
};

struct Dropped {  // taken back before its turn
  std::string prompt;
};

// One answer of a model. `unfinished`: "" for one that came to its end; else why not (aborted, or the class of the error), and what there
// was of it is text only.
struct Answered {
  std::string model;
  llm::Message message{llm::Role::kAssistant, {}};
  std::vector<std::string> notes;  // told to the model behind it: calls that were not run because they came broken
  std::string stop;
  std::string unfinished;
  llm::Usage usage;
};

// A piece of an answer that is on its way. Superseded by the answer's own record; without one, this is all that a crash has left of it.
struct Partial {
  std::string model;
  int64_t part = 0;  // which text of the answer it goes on with
  std::string text;
};

struct Resulted {  // of one call of the answer before
  llm::ToolResult result;
  std::string diff;
};

// The provider refused the request that first brought the pictures of the last message: from here on a line of text stands for each.
struct PicturesRefused {};

struct TurnEnded {
  std::string prompt;
  std::string outcome;  // done | error | aborted
  std::string code;     // done: stop reason; error: its class
  std::string message;
  // What a list shows, so that it needs no more than the end of the file.
  std::string title;
  int64_t turns = 0;
  llm::Usage total;
  std::string model;
  std::string thinking;
};

struct ModelSet {
  std::string model;     // "" = the agent's first choice
  std::string thinking;  // "" = as that choice says
};

struct Compacted {
  std::string summary;
  int64_t from = 0;  // messages that began at an earlier record are replaced by the summary
  llm::Usage usage;
};

using Record = std::variant<Begun, Said, TurnBegun, Steered, Dropped, Answered, Partial, Resulted, PicturesRefused, TurnEnded, ModelSet, Compacted>;

struct Line {
  int64_t n = 0;
  std::string time;  // RFC 3339
  Record record;
};

std::string EncodeLine(const Line& line);  // with its newline; invalid UTF-8 is replaced
// NotFound for a type that this version does not know, Invalid for what is no record.
Result<Line> DecodeLine(std::string_view text);

}  // namespace beige::sessions

#endif
