#ifndef BEIGE_GATEWAY_SESSIONS_COMPACTION_H_
#define BEIGE_GATEWAY_SESSIONS_COMPACTION_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gateway/llm/model.h"
#include "gateway/sessions/model_request.h"

namespace beige::sessions {

class Session;

// Has the model say the older part of a conversation shorter, and puts that in its place: all but at most about `keep` bytes at the end,
// never parting a call from its result. The rest of the file stays as it is.
class Compaction {
 public:
  // `done` is called once, never from within the constructor; it may move this away, and destroys it on a later turn of the loop.
  Compaction(Session& session, Mind mind, size_t keep, std::function<void(Result<>)> done);
  ~Compaction();
  void Cancel();  // nothing is told

 private:
  void OnEvent(const llm::Event& event);
  void Finish();
  void Spent();  // on a summary that does not come
  void Tell(Result<> result);

  Session& session_;
  const int64_t from_;
  std::function<void(Result<>)> done_;
  std::string summary_;
  llm::Usage usage_;
  std::unique_ptr<ModelRequest> request_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace beige::sessions

#endif
