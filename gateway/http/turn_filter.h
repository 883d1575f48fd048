#ifndef BEIGE_GATEWAY_HTTP_TURN_FILTER_H_
#define BEIGE_GATEWAY_HTTP_TURN_FILTER_H_

#include <string>

#include "gateway/sessions/sessions.h"

namespace beige {

// Which of a session's events are one prompt's: those of its own turn, or from its "steer" on those of the turn that it was told to.
class TurnFilter {
 public:
  void SetPrompt(std::string prompt) { prompt_ = std::move(prompt); }
  bool Wants(const sessions::Event& event);
  bool Ends(const sessions::Event& event) const { return event.ends && (event.prompt == prompt_ || event.prompt == turn_); }  // of a wanted one

 private:
  std::string prompt_;
  std::string turn_;  // "" = not begun
};

}  // namespace beige

#endif
