#include "base/socket_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace beige {
namespace {
constexpr size_t kReadBytes = 64u << 10;
constexpr size_t kReadInTurn = 16u << 10;  // what a neighbour waits for at least, so a fraction of a share
constexpr size_t kKeepCapacity = 64u << 10;
constexpr int kReadCost = 4;           // of Turns::kShare
constexpr size_t kBytesPerCost = 2048;
constexpr int kEndCost = 12;  // the kernel's part of closing is most of it
}  // namespace

void WriteBatch::Leave() {
  if (depth_ > 1) {
    --depth_;
    return;
  }
  // Flushing calls nobody back, so nothing is added meanwhile. The last first: who is asked to do something was written to after who only
  // gets a word of greeting, and the first that is woken runs first.
  for (auto stream = dirty_.rbegin(); stream != dirty_.rend(); ++stream) {
    (*stream)->dirty_ = false;
    (*stream)->Flush();
  }
  dirty_.clear();
  depth_ = 0;
}

SocketStream::SocketStream(Loop& loop, WriteBatch& batch, UniqueFd fd, SocketStreamOwner* owner, Party* party)
    : loop_(loop), batch_(batch), fd_(std::move(fd)), owner_(owner), party_(party), watch_(std::make_unique<FdWatch>(loop, fd_.get())) {
  Rearm();
}

SocketStream::~SocketStream() {
  *alive_ = false;
  if (waits_ || write_waits_ || ending_) party_->Leave(this);
  if (dirty_) std::erase(batch_.dirty_, this);
}

void SocketStream::Rearm() {
  const bool read = !waits_ && WantsToRead();
  // Without reading, the end of the peer would go unnoticed; who stands in line will read soon.
  const bool hangup = !read && !waits_ && !broken_;
  if (read != reading_) {
    reading_ = read;
    watch_->OnReadable(read ? std::function<void()>([this] { OnReadable(); }) : nullptr);
  }
  if (hangup != hangup_) {
    hangup_ = hangup;
    watch_->OnHangup(hangup ? std::function<void()>([this] { Break(); }) : nullptr);
  }
}

void SocketStream::PauseReading(bool pause) {
  paused_ = pause;
  Rearm();
}

void SocketStream::CloseWhenSent() {
  closing_ = true;
  Rearm();
  Flush();
}

void SocketStream::OnReadable() {
  if (party_ == nullptr || party_->Take(kReadCost)) {
    (void)Read();
    return;
  }
  waits_ = true;
  Rearm();
  party_->Wait(this);
}

void SocketStream::OnTurn() {
  if (std::exchange(ending_, false)) {
    waits_ = write_waits_ = false;
    party_->Owe(kEndCost);
    return TellClosed();
  }
  if (std::exchange(write_waits_, false)) {
    party_->Owe(kReadCost);
    const auto alive = alive_;
    WriteMore();
    if (!*alive || !waits_) return;
  }
  bool more = false;
  if (WantsToRead()) {
    party_->Owe(kReadCost);
    const auto alive = alive_;
    more = Read();
    if (!*alive) return;
  }
  // In line again at once: the loop need not be asked whether there is more of a flood.
  if (more && WantsToRead()) return party_->Wait(this);
  waits_ = false;
  Rearm();
}

bool SocketStream::Read() {
  char buffer[kReadBytes];
  const size_t size = party_ != nullptr ? kReadInTurn : sizeof buffer;
  const ssize_t n = ::recv(fd_.get(), buffer, size, MSG_DONTWAIT);
  if (n < 0) {
    if (errno != EAGAIN && errno != EINTR) Break();
    return false;
  }
  if (party_ != nullptr) party_->Owe(static_cast<int>(static_cast<size_t>(n) / kBytesPerCost));
  WriteBatch& batch = batch_;
  batch.Enter();
  if (n > 0) {
    owner_->OnBytes(std::string_view(buffer, static_cast<size_t>(n)));
  } else {
    eof_ = true;
    if (party_ != nullptr) party_->Owe(kEndCost);
    const auto alive = alive_;
    owner_->OnEof();
    if (*alive) Rearm();
  }
  batch.Leave();
  return static_cast<size_t>(n) == size;
}

// The owner hears of it from the loop, not in the middle of whatever it was doing when a write failed.
void SocketStream::Break() {
  if (broken_) return;
  broken_ = true;
  out_.clear();
  head_ = 0;
  watch_->OnWritable(nullptr);
  waiting_to_write_ = false;
  Rearm();
  if (party_ != nullptr) {
    ending_ = true;
    party_->Wait(this);
    return;
  }
  loop_.Post([this, alive = alive_] {
    if (*alive) TellClosed();
  });
}

void SocketStream::TellClosed() {
  WriteBatch& batch = batch_;
  batch.Enter();
  owner_->OnClosed();
  batch.Leave();
}

void SocketStream::Write(std::string_view bytes) {
  if (broken_) return;
  out_.append(bytes);
  Commit();
}

void SocketStream::Commit() {
  if (broken_) {
    out_.clear();
    return;
  }
  if (batch_.depth_ == 0) {
    Flush();
  } else if (!dirty_) {
    dirty_ = true;
    batch_.dirty_.push_back(this);
  }
}

void SocketStream::OnWritable() {
  if (party_ == nullptr || party_->Take(kReadCost)) return WriteMore();
  write_waits_ = true;
  watch_->OnWritable(nullptr);
  party_->Wait(this);
}

void SocketStream::WriteMore() {
  const size_t before = unsent();
  Send(party_ != nullptr ? kReadInTurn : before);
  if (broken_) return;
  const size_t left = unsent();
  if (party_ != nullptr) party_->Owe(static_cast<int>((before - left) / kBytesPerCost));
  if (left > 0) return;
  WriteBatch& batch = batch_;
  batch.Enter();
  owner_->OnDrained();
  batch.Leave();
}

void SocketStream::Flush() { Send(unsent()); }

void SocketStream::Send(size_t at_most) {
  const size_t stop = std::min(out_.size(), head_ + at_most);
  while (!broken_ && head_ < stop) {
    const ssize_t n = ::send(fd_.get(), out_.data() + head_, stop - head_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      head_ += static_cast<size_t>(n);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) {
      Break();
      return;
    }
    break;
  }
  if (head_ == out_.size()) {
    head_ = 0;
    out_.clear();
    if (out_.capacity() > kKeepCapacity) out_.shrink_to_fit();
    if (waiting_to_write_) {
      waiting_to_write_ = false;
      watch_->OnWritable(nullptr);
    }
    if (closing_ && !broken_) {
      ::shutdown(fd_.get(), SHUT_RDWR);
      Break();
      return;
    }
  } else {
    if (head_ > kPauseAt && head_ > out_.size() / 2) {
      out_.erase(0, head_);
      head_ = 0;
    }
    waiting_to_write_ = true;
    if (!write_waits_) watch_->OnWritable([this] { OnWritable(); });
  }
  Rearm();
}

}  // namespace beige
