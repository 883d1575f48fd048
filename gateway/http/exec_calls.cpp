#include "gateway/http/exec_calls.h"

#include <algorithm>

#include "gateway/http/exec_reply.h"
#include "gateway/http/reply.h"

namespace beige {
namespace {
constexpr size_t kLargeAnswer = 256u << 10;
}

class ExecCalls::Running final : public CallSink {
 public:
  Running(ExecCalls& owner, uint64_t number, std::string input, std::shared_ptr<http::Responder> responder)
      : owner_(owner), number_(number), input_(std::move(input)), responder_(std::move(responder)) {}

  void Started(CallService::Id id) {
    id_ = id;
    FeedStdin();
  }
  CallService::Id id() const { return id_; }
  const std::shared_ptr<http::Responder>& responder() const { return responder_; }
  bool over() const { return over_; }

  void OnOutput(uint8_t stream, std::string_view bytes) override {
    std::string& kept = stream == 1 ? output_.out : output_.err;
    const size_t room = kMaxStream - std::min(kMaxStream, kept.size());
    kept.append(bytes.substr(0, room));
    if (bytes.size() > room) output_.truncated = true;
    owner_.calls_.Credit(id_, stream, static_cast<uint32_t>(bytes.size()));
  }

  void OnStdinCredit(uint32_t bytes) override {
    credit_ += bytes;
    FeedStdin();
  }

  void OnExit(const CallResult& result) override {
    over_ = true;
    const size_t bytes = output_.out.size() + output_.err.size();
    owner_.Answer([result, output = std::move(output_), responder = responder_] { responder->Reply(ExecReply(result, output)); }, bytes);
    owner_.Over(number_);
  }

 private:
  void FeedStdin() {
    if (id_ == 0 || over_ || input_.empty()) return;
    const size_t n = std::min<size_t>(credit_, input_.size() - fed_);
    for (size_t done = 0; done < n && !over_;) {
      const size_t piece = std::min<size_t>(n - done, BGE_CHUNK);
      const std::string_view bytes = std::string_view(input_).substr(fed_, piece);
      fed_ += piece;
      done += piece;
      credit_ -= static_cast<uint32_t>(piece);
      owner_.calls_.Stdin(id_, bytes);
    }
    if (fed_ == input_.size() && !over_) {
      input_.clear();
      owner_.calls_.StdinEof(id_);
    }
  }

  ExecCalls& owner_;
  const uint64_t number_;
  std::string input_;
  size_t fed_ = 0;
  uint32_t credit_ = BGE_WINDOW_INITIAL;
  ExecOutput output_;
  std::shared_ptr<http::Responder> responder_;
  CallService::Id id_ = 0;
  bool over_ = false;
};

ExecCalls::ExecCalls(Loop& loop, CallService& calls) : loop_(loop), calls_(calls), encoder_([this] { EncodeLoop(); }) {}

ExecCalls::~ExecCalls() {
  *alive_ = false;
  for (auto& [number, running] : running_) {
    calls_.Cancel(running->id());
    running->responder()->Reply(JsonError(503, "Unavailable", "the gateway is stopping; the command was cancelled"));
  }
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  encoder_.join();
}

void ExecCalls::Start(ExecBody body, std::shared_ptr<http::Responder> responder) {
  const uint64_t number = ++last_;
  Running* running = running_.emplace(number, std::make_unique<Running>(*this, number, std::move(body.stdin_bytes), responder)).first->second.get();
  responder->OnGone([this, number, alive = alive_, &loop = loop_] {
    loop.Post([this, number, alive] {
      if (*alive) Gone(number);
    });
  });
  const CallService::Id id = calls_.Start(std::move(body.call), running);
  if (!running->over()) running->Started(id);
}

// The client left: nobody wants the rest.
void ExecCalls::Gone(uint64_t number) {
  const auto found = running_.find(number);
  if (found == running_.end()) return;
  const std::unique_ptr<Running> running = std::move(found->second);
  running_.erase(found);
  calls_.Cancel(running->id());
}

void ExecCalls::Over(uint64_t number) {
  const auto found = running_.find(number);
  if (found == running_.end()) return;
  over_.push_back(std::move(found->second));  // its callback is on the stack
  running_.erase(found);
  if (over_.size() > 1) return;
  loop_.Post([this, alive = alive_] {
    if (*alive) over_.clear();
  });
}

void ExecCalls::Answer(std::function<void()> encode_and_reply, size_t bytes) {
  if (bytes < kLargeAnswer) {
    encode_and_reply();
    return;
  }
  {
    std::lock_guard lock(mutex_);
    queue_.push_back(std::move(encode_and_reply));
  }
  work_.notify_one();
}

void ExecCalls::EncodeLoop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::function<void()> task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace beige
