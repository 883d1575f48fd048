#include "base/turns.h"

#include <algorithm>
#include <utility>

namespace beige {

void Turns::Renew() {
  if (std::exchange(renewing_, true) || in_round_) return;  // its end goes on
  resting_ = care_ > 0 && took_.count() > 0;
  if (resting_) {
    return pause_.Start(std::min<std::chrono::steady_clock::duration>(2 * took_, kLongestPause), [this] { Round(); });
  }
  loop_.Post([this, alive = alive_] {
    if (*alive) Round();
  });
}

void Turns::Round() {
  renewing_ = resting_ = false;
  in_round_ = true;
  ++round_;
  if (care_ > 0) --care_;
  const auto began = std::chrono::steady_clock::now();
  // Only those who wait now: who comes into line meanwhile has had its turn.
  for (size_t left = line_.size(); left > 0 && !line_.empty(); --left) {
    Party* party = line_.front();
    line_.pop_front();
    serving_ = party;
    party->Serve();
    if (std::exchange(serving_, nullptr) == party && !party->line_.empty()) line_.push_back(party);
  }
  took_ = std::chrono::steady_clock::now() - began;
  in_round_ = false;
  if (std::exchange(renewing_, false) || !line_.empty()) Renew();
}

Party::~Party() {
  std::erase(turns_.line_, this);
  if (turns_.serving_ == this) turns_.serving_ = nullptr;
  if (turns_.modest_ == this) turns_.care_ = 0;
}

bool Party::HasShare() {
  if (const int64_t rounds = turns_.round_ - round_; rounds > 0) {
    round_ = turns_.round_;
    used_ = static_cast<int>(std::max<int64_t>(0, used_ - rounds * Turns::kShare));
  }
  return used_ < Turns::kShare;
}

bool Party::Take(int cost) {
  if (!HasShare()) {
    turns_.Renew();
    return false;
  }
  used_ += cost;
  if (used_ >= Turns::kShare) {
    turns_.Renew();
  } else if (turns_.round_ - waited_ >= Turns::kRecently) {
    turns_.modest_ = this;
    turns_.care_ = Turns::kCareRounds;
  }
  return true;
}

void Party::Wait(TurnTaker* taker) {
  if (std::find(line_.begin(), line_.end(), taker) != line_.end()) return;
  waited_ = turns_.round_;
  if (turns_.modest_ == this) turns_.care_ = 0;  // it was not
  if (line_.empty() && turns_.serving_ != this) turns_.line_.push_back(this);
  line_.push_back(taker);
  turns_.Renew();
}

void Party::Leave(TurnTaker* taker) {
  line_.remove(taker);
  if (line_.empty()) std::erase(turns_.line_, this);
}

void Party::Serve() {
  // One that waits again goes to the end of the line. The party may go meanwhile.
  Turns& turns = turns_;
  while (turns.serving_ == this && !line_.empty() && HasShare()) {
    TurnTaker* taker = line_.front();
    line_.pop_front();
    taker->OnTurn();
  }
}

}  // namespace beige
