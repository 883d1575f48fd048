#include "base/turns.h"

#include <algorithm>
#include <utility>

namespace beige {

void Turns::Renew() {
  if (std::exchange(renewing_, true)) return;
  loop_.Post([this, alive = alive_] {
    if (*alive) Round();
  });
}

void Turns::Round() {
  renewing_ = false;
  ++round_;
  // Only those who wait now: who comes into line meanwhile has had its turn.
  for (size_t left = line_.size(); left > 0 && !line_.empty(); --left) {
    Party* party = line_.front();
    line_.pop_front();
    serving_ = party;
    party->Serve();
    if (std::exchange(serving_, nullptr) == party && !party->line_.empty()) line_.push_back(party);
  }
  if (!line_.empty()) Renew();
}

Party::~Party() {
  std::erase(turns_.line_, this);
  if (turns_.serving_ == this) turns_.serving_ = nullptr;
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
  if (used_ >= Turns::kShare) turns_.Renew();
  return true;
}

void Party::Wait(TurnTaker* taker) {
  if (std::find(line_.begin(), line_.end(), taker) != line_.end()) return;
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
