#ifndef BEIGE_GATEWAY_CONFIG_LAST_GOOD_H_
#define BEIGE_GATEWAY_CONFIG_LAST_GOOD_H_

#include "gateway/config/config_set.h"

namespace beige {

// The texts that were last in force, kept in data/gateway/last-good-config.json (0600), so that a restart with a broken file goes on
// with what the running gateway had. Secrets are not in it: the texts only name where they are.
Result<> SaveLastGood(const HomePaths& paths, const ConfigSet& set);

// nullopt when nothing was saved or it can't be used any more.
std::optional<ConfigSet> LoadLastGood(const HomePaths& paths, const EnvLookup& env);

}  // namespace beige

#endif
