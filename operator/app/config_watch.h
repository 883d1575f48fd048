#ifndef BEIGE_OPERATOR_APP_CONFIG_WATCH_H_
#define BEIGE_OPERATOR_APP_CONFIG_WATCH_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/load.h"
#include "api/paths.h"
#include "base/clock.h"
#include "base/file_stamp.h"
#include "operator/reconcile/reconciler.h"

namespace beige {

// operator.yaml while the operator runs: all of a valid new version or nothing. What can't change in a running operator (the engine, the
// metrics address, the image that new agents are loaded from) keeps its value and is named in `notice`. Lives on the main loop.
class ConfigWatch {
 public:
  ConfigWatch(const HomePaths& paths, ConfigState& config, const Clock& clock, std::function<void()> changed);

  // At start. An absent file is all defaults; problems = it can't be used.
  static Loaded<OperatorConfig> Read(const HomePaths& paths);

  // Cheap when nothing changed; call it every second. A file that may be half written is left until it was still for 2 s, since what a
  // cut file does not say (ceilings!) would count as allowed.
  void Look();
  const std::vector<Problem>& problems() const { return problems_; }
  const std::string& notice() const { return notice_; }

 private:
  const HomePaths& paths_;
  ConfigState& config_;
  const std::function<void()> changed_;
  const Clock& clock_;
  FileStamp seen_;
  FileStamp settling_;
  SteadyTime settling_since_{};
  std::vector<Problem> problems_;
  std::string notice_;
};

}  // namespace beige

#endif
