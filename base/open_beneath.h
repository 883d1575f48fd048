#ifndef BEIGE_BASE_OPEN_BENEATH_H_
#define BEIGE_BASE_OPEN_BENEATH_H_

#include <sys/types.h>

#include <string>

#include "base/unique_fd.h"

namespace beige {

// Opens `path`, which lies beneath `directory`, and follows no link on the way from there: for paths that somebody less trusted may
// shape. Links on the way to `directory` itself, and in it, count as where they lead. "" or "/" as `directory`: no link anywhere; also
// when `path` is not beneath it. Equal to `directory`: opened as it is. Invalid descriptor with errno; a link is ELOOP.
UniqueFd OpenBeneath(const std::string& directory, const std::string& path, int flags);

// The directory `name` of `parent` (one component), made with `mode` exactly where it is not there. Never follows a link.
UniqueFd MakeDirectoryIn(int parent, const std::string& name, mode_t mode);

}  // namespace beige

#endif
