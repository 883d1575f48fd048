#include "gateway/sessions/answer_keeper.h"

#include <utility>

#include "gateway/sessions/session.h"

namespace beige::sessions {
namespace {
constexpr std::chrono::seconds kPiece{1};
constexpr size_t kLargest = 64u << 10;  // of a model that floods; a record is encoded in one go
}

AnswerKeeper::AnswerKeeper(Session& session) : session_(session), timer_(session.services().loop) {}

void AnswerKeeper::Add(const std::string& model, int64_t part, std::string_view text) {
  if (part != part_) Save();
  if (text_.empty()) timer_.Start(kPiece, [this] { Save(); });
  model_ = model;
  part_ = part;
  text_ += text;
  if (text_.size() >= kLargest) Save();
}

void AnswerKeeper::Save() {
  timer_.Cancel();
  // One that can't be written is said by Write, and the answer's own record will end the turn.
  if (!text_.empty()) (void)session_.Write(Partial{model_, part_, std::exchange(text_, {})});
}

void AnswerKeeper::Forget() {
  timer_.Cancel();
  text_.clear();
}

}  // namespace beige::sessions
