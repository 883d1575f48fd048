#include "gateway/http/auth_notes.h"

#include "base/log.h"
#include "gateway/audit/audit_log.h"

namespace beige {

void AuthNotes::Add(const std::string& actor, const std::string& what) {
  const SteadyTime now = clock_.Now();
  if (now - last_ < std::chrono::seconds(1)) {
    ++unsaid_;
    return;
  }
  last_ = now;
  const std::string more = unsaid_ == 0 ? "" : "; " + std::to_string(unsaid_) + " more before it";
  unsaid_ = 0;
  if (auto noted = audit_.Note("auth", nullptr, actor, what + more); !noted) LogWarn("refused request not audited", {{"error", noted.error().message}});
}

}  // namespace beige
