#ifndef BEIGE_CLI_APPLY_H_
#define BEIGE_CLI_APPLY_H_

#include <string>
#include <vector>

#include "cli/globals.h"

namespace beige::cli {

// `beige apply -f PATH|-`: files, directories or stdin. All documents are validated first; with one problem nothing is written.
int RunApply(const Globals& globals, const std::vector<std::string>& paths);

struct DeleteOptions {
  std::vector<std::string> names;
  std::vector<std::string> files;
  bool ignore_not_found = false;
};
// `beige delete agent NAME` or `-f PATH`: takes the document away; the operator removes the sandbox.
int RunDelete(const Globals& globals, const DeleteOptions& options);

}  // namespace beige::cli

#endif
