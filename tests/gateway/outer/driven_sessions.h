#ifndef BEIGE_TESTS_GATEWAY_OUTER_DRIVEN_SESSIONS_H_
#define BEIGE_TESTS_GATEWAY_OUTER_DRIVEN_SESSIONS_H_

#include <map>
#include <string>
#include <vector>

#include "gateway/sessions/sessions.h"

namespace beige::testing {

// Sessions whose every answer the test gives: what the HTTP side does in an order of events that real ones take by chance only. Linked in
// place of gateway/sessions. Core thread.
struct DrivenSessions {
  std::vector<sessions::Prompt> submitted;
  std::vector<sessions::Done<sessions::Accepted>> accept;
  std::vector<std::string> aborted;  // prompts; "" = all
  std::map<sessions::WatchId, sessions::Watcher*> watchers;
  std::vector<std::string> after;    // of each Watch
  std::vector<std::string> calls;    // "list", "show s1 5", ...
  std::optional<Error> refuse;       // of everything but Submit
  sessions::WatchId last = 0;

  void Tell(sessions::Event event);
  static DrivenSessions* current;  // of the one Sessions that a test has
};

}  // namespace beige::testing

#endif
