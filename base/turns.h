#ifndef BEIGE_BASE_TURNS_H_
#define BEIGE_BASE_TURNS_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>

#include "base/loop.h"

namespace beige {

class Party;

// Something of a party that has more to do than its share allowed. Whoever takes turns leaves the line before it goes.
class TurnTaker {
 public:
  virtual ~TurnTaker() = default;
  virtual void OnTurn() = 0;  // do some; ask to wait again if there is more
};

// Shares one loop's thread out among parties, round by round: in each round every party may do work of kShare, and who wants more stands
// in line for the next. Between two rounds the loop looks once at everything that has become ready, so a party that comes with one small
// thing waits for one share of each busy party, however much any of them has brought. Costs nothing while nobody uses up a share.
//
// While somebody else is about who wants little, rounds have pauses between them, twice as long as they took: a thread that never rests
// waits for its processor as everybody does, and one that rests is run when something comes. So a flood has a third of the thread then.
// Loop thread only; outlives its parties.
class Turns {
 public:
  static constexpr int kShare = 32;
  static constexpr int kRecently = 8;       // rounds since a party stood in line, for it to be one that wants much
  static constexpr int kCareRounds = 400;   // that have pauses after somebody came who wants little
  static constexpr std::chrono::microseconds kLongestPause{500};

  explicit Turns(Loop& loop) : loop_(loop), pause_(loop) {}
  ~Turns() { *alive_ = false; }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  bool rests() const { return resting_; }  // the next round comes after a pause

 private:
  friend class Party;
  void Renew();  // a round begins after what is ready now
  void Round();

  Loop& loop_;
  Timer pause_;
  std::chrono::steady_clock::duration took_{};  // the last round
  const Party* modest_ = nullptr;               // who wanted little, last
  int care_ = 0;                                // rounds that are to have pauses for it
  int64_t round_ = 0;
  bool renewing_ = false;
  bool resting_ = false;
  bool in_round_ = false;
  std::deque<Party*> line_;   // with somebody waiting, in order of coming
  Party* serving_ = nullptr;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// All that belongs to one agent, by whichever connection it comes.
class Party {
 public:
  explicit Party(Turns& turns) : turns_(turns) {}
  ~Party();
  Party(const Party&) = delete;
  Party& operator=(const Party&) = delete;

  // False: nothing is left of this round's share, so wait. What is over the share is owed to the next rounds.
  bool Take(int cost);
  void Owe(int cost) { used_ += cost; }  // for work whose size showed only when it was done
  // OnTurn will run in a later round, once; the first in line comes first. In line already: stays where it is.
  void Wait(TurnTaker* taker);
  void Leave(TurnTaker* taker);

 private:
  friend class Turns;
  bool HasShare();
  void Serve();

  Turns& turns_;
  int64_t waited_ = -Turns::kRecently;  // the last round in which it stood in line
  int64_t round_ = 0;  // that used_ is about
  int used_ = 0;
  std::list<TurnTaker*> line_;
};

}  // namespace beige

#endif
