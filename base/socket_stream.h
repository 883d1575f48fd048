#ifndef BEIGE_BASE_SOCKET_STREAM_H_
#define BEIGE_BASE_SOCKET_STREAM_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/loop.h"
#include "base/turns.h"
#include "base/unique_fd.h"

namespace beige {

class SocketStream;

// Gathers what streams of one loop write while one event is handled, so that each peer gets one send for it (and is woken once).
// Outlives its streams.
class WriteBatch {
 public:
  WriteBatch() = default;
  WriteBatch(const WriteBatch&) = delete;
  WriteBatch& operator=(const WriteBatch&) = delete;
  void Enter() { ++depth_; }
  void Leave();

 private:
  friend class SocketStream;
  int depth_ = 0;
  std::vector<SocketStream*> dirty_;
};

// Who owns a SocketStream. Any of these may destroy the stream.
class SocketStreamOwner {
 public:
  virtual ~SocketStreamOwner() = default;
  virtual void OnBytes(std::string_view bytes) = 0;  // valid until it returns
  // The peer closed its writing side and may still read. Nothing more is read; OnClosed follows when it is gone altogether.
  virtual void OnEof() = 0;
  virtual void OnClosed() = 0;  // the connection is dead; comes once, never from within Write
  virtual void OnDrained() {}   // what had to wait for the peer is sent; from the loop
};

// A connected Unix stream socket on a loop: bytes in by callback, bytes out by a queue that never blocks.
// Reading stops by itself while more than kPauseAt bytes wait unsent, so that a peer that does not read can't make us queue answers; with
// a party, each read is taken from that party's share and is a small one, and what is over it waits for a turn. So do the end of a connection,
// and writing on to a peer that reads at last: a flood may bring many of these at once.
class SocketStream final : public TurnTaker {
 public:
  static constexpr size_t kPauseAt = 256u << 10;

  SocketStream(Loop& loop, WriteBatch& batch, UniqueFd fd, SocketStreamOwner* owner, Party* party = nullptr);
  ~SocketStream() override;
  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;

  void Write(std::string_view bytes);
  // For writers that format in place: append to the buffer, then Commit(). Nothing else may be called in between.
  std::string& Buffer() { return out_; }
  void Commit();

  void PauseReading(bool pause);
  // Reads no more, and ends the connection (OnClosed) as soon as everything is sent.
  void CloseWhenSent();
  size_t unsent() const { return out_.size() - head_; }
  int fd() const { return fd_.get(); }
  // What came cost more than its bytes show.
  void Owe(int cost) {
    if (party_ != nullptr) party_->Owe(cost);
  }
  // Hands over what has come so far, without waiting for the loop to notice it.
  void ReadNow() {
    if (reading_ || waits_) (void)Read();
  }
  // Lets what is queued go out as far as the peer takes it now. For a last word before the stream is destroyed.
  void Flush();

 private:
  friend class WriteBatch;
  bool WantsToRead() const { return !paused_ && !eof_ && !broken_ && !closing_ && unsent() <= kPauseAt; }
  void OnReadable();
  void OnWritable();
  void WriteMore();  // may destroy this
  void Send(size_t at_most);
  void OnTurn() override;
  bool Read();  // true: there may be more. May destroy this
  void Break();
  void TellClosed();
  void Rearm();

  Loop& loop_;
  WriteBatch& batch_;
  UniqueFd fd_;
  SocketStreamOwner* owner_;
  Party* const party_;
  std::unique_ptr<FdWatch> watch_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::string out_;
  size_t head_ = 0;
  bool dirty_ = false;
  bool waiting_to_write_ = false;
  bool reading_ = false;
  bool hangup_ = false;
  bool paused_ = false;
  bool waits_ = false;  // for its turn to read
  bool write_waits_ = false;  // for its turn to write, which a peer that reads at last asks for
  bool ending_ = false;  // OnClosed comes with its turn
  bool eof_ = false;
  bool broken_ = false;
  bool closing_ = false;
};

}  // namespace beige

#endif
