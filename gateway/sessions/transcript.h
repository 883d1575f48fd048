#ifndef BEIGE_GATEWAY_SESSIONS_TRANSCRIPT_H_
#define BEIGE_GATEWAY_SESSIONS_TRANSCRIPT_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "gateway/llm/model.h"
#include "gateway/sessions/record.h"

namespace beige::sessions {

// Where a session stands after the records so far: the conversation as a model is told it, and what waits. Pure.
class Transcript {
 public:
  void Apply(const Line& line);
  // The file as it was read. A line that is no record is passed over: the torn end of a crash was never acknowledged.
  static Transcript Read(std::string_view file);

  int64_t next_line() const { return next_line_; }
  const Begun& begun() const { return begun_; }
  const std::string& created() const { return created_; }
  const std::string& updated() const { return updated_; }
  const std::string& title() const { return title_; }
  const std::string& model() const { return model_; }        // "" = the agent's first choice
  const std::string& thinking() const { return thinking_; }  // "" = as that choice says
  int64_t turns() const { return turns_; }
  int64_t calls() const { return calls_; }  // ever made; numbers the next one
  const llm::Usage& total() const { return total_; }

  const std::deque<Said>& waiting() const { return waiting_; }  // accepted, neither begun nor dropped
  const std::string& running() const { return running_; }       // prompt of a turn without an end; "" = none
  // That prompt, when nobody needs to wait for it (`detach`); its images are in the conversation only.
  const std::optional<Said>& running_detached() const { return running_detached_; }
  bool HasDetached() const;                                     // one that runs or waits
  bool resumed() const { return resumed_; }                     // that turn was begun more than once
  const std::vector<llm::ToolCall>& open_calls() const { return open_calls_; }  // without a result
  // What a file that was read has of an answer without its end. One that comes now is not kept here: its turn has it.
  const std::optional<Answered>& cut_answer() const { return cut_answer_; }

  const std::vector<llm::MessageRef>& messages() const { return messages_; }
  // Tokens of the conversation: what the last answer's request counted, and an estimate of what came since.
  int64_t context_tokens() const { return counted_tokens_ + static_cast<int64_t>(uncounted_bytes_ / 4); }

  // The earliest line from which on at most `bytes` of conversation are kept whole, never between a call and its result; nothing when
  // there is nothing before it that a summary could replace.
  std::optional<int64_t> CutFor(size_t bytes) const;
  std::vector<llm::MessageRef> Before(int64_t line) const;  // what the summary is to replace

 private:
  void Begin(const std::string& prompt);
  void Take(const std::string& prompt);  // out of waiting_ and into the conversation, as the user's
  void Told(llm::Part part);
  void Gather(const Partial& partial);
  void Replace(const Compacted& compacted);

  int64_t next_line_ = 1;
  Begun begun_;
  std::string created_, updated_, title_, model_, thinking_;
  int64_t turns_ = 0;
  int64_t calls_ = 0;
  llm::Usage total_;
  std::deque<Said> waiting_;
  std::string running_;
  std::optional<Said> running_detached_;
  bool resumed_ = false;
  std::vector<llm::ToolCall> open_calls_;
  std::optional<Answered> cut_answer_;
  int64_t cut_part_ = 0;
  std::vector<llm::MessageRef> messages_;
  std::vector<int64_t> lines_;  // of each message: the record that began it
  int64_t line_ = 0;
  bool summarized_ = false;     // the first message is a summary
  int64_t counted_tokens_ = 0;
  size_t uncounted_bytes_ = 0;
};

std::string TitleOf(std::string_view text);  // the first line, cut to 60 characters
size_t BytesOf(const llm::Message& message);  // of its texts; an image counts as 4000

}  // namespace beige::sessions

#endif
