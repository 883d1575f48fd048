#ifndef BEIGE_GATEWAY_SESSIONS_ANSWER_KEEPER_H_
#define BEIGE_GATEWAY_SESSIONS_ANSWER_KEEPER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/loop.h"

namespace beige::sessions {

class Session;

// Writes down the text of an answer while it comes, so that the end of the gateway takes no more than its last second: a piece a second,
// and nothing while nothing comes. Holds only what is not written yet. Core thread.
class AnswerKeeper {
 public:
  explicit AnswerKeeper(Session& session);

  void Add(const std::string& model, int64_t part, std::string_view text);  // `part`: which text of the answer
  void Save();    // now
  void Forget();  // the answer itself is written

 private:
  Session& session_;
  Timer timer_;
  std::string model_;
  int64_t part_ = 0;
  std::string text_;
};

}  // namespace beige::sessions

#endif
