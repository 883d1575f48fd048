#ifndef BEIGE_GATEWAY_HTTP_AUTH_NOTES_H_
#define BEIGE_GATEWAY_HTTP_AUTH_NOTES_H_

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace beige {

class AuditLog;

// Refused requests in the audit: the first at once, then at most one note a second that counts the rest, so that guessing can't fill the
// log. Core thread only.
class AuthNotes {
 public:
  AuthNotes(AuditLog& audit, const Clock& clock) : audit_(audit), clock_(clock) {}
  void Add(const std::string& actor, const std::string& what);

 private:
  AuditLog& audit_;
  const Clock& clock_;
  SteadyTime last_{};
  uint64_t unsaid_ = 0;
};

}  // namespace beige

#endif
