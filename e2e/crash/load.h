#ifndef BEIGE_E2E_CRASH_LOAD_H_
#define BEIGE_E2E_CRASH_LOAD_H_

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "e2e/home.h"

namespace beige::e2e {

// Calls on the agents' sockets, one after the other on each, and what `edit` does, until it is destroyed. Errors are expected: the
// processes that answer are being killed.
class Load {
 public:
  Load(const std::vector<std::string>& sockets, std::function<void(int)> edit);
  ~Load();
  int answered() const { return answered_; }  // calls whose tool ran and was heard of

 private:
  void Call(const std::string& socket);
  std::atomic<bool> stop_{false};
  std::atomic<int> answered_{0};
  std::vector<std::thread> threads_;
};

}  // namespace beige::e2e

#endif
