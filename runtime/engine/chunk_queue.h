#ifndef BEIGE_RUNTIME_ENGINE_CHUNK_QUEUE_H_
#define BEIGE_RUNTIME_ENGINE_CHUNK_QUEUE_H_

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/engine/http.h"

namespace beige::runtime::engine {

// Hands one exchange's body from the loop's thread to the thread that waits for it. Must outlive the exchange: WaitEnd() before it goes.
class ChunkQueue {
 public:
  // Holds at most `limit` bytes; more ends the exchange, or with PauseWhenFull() stops reading until Next() has taken some.
  explicit ChunkQueue(size_t limit) : limit_(limit) {}

  void PauseWhenFull() { pause_ = true; }
  void Attach(Transfer& transfer);  // sets the callbacks

  std::optional<std::string> Next();  // what has come; nullopt when the exchange is over and all is taken
  Outcome WaitEnd();
  int status();

  // After WaitEnd().
  bool overflowed() const { return overflowed_; }
  const std::string& body() const { return data_; }
  std::string TakeBody() { return std::move(data_); }

 private:
  Flow Take(std::string_view bytes);

  const size_t limit_;
  bool pause_ = false;
  std::mutex mutex_;  // guards what stands below
  std::condition_variable changed_;
  std::string data_;
  std::optional<Outcome> outcome_;
  int status_ = 0;
  bool overflowed_ = false;
};

}  // namespace beige::runtime::engine

#endif
