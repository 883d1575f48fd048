#ifndef BEIGE_CLI_AUDIT_H_
#define BEIGE_CLI_AUDIT_H_

#include <string>

#include "cli/globals.h"

namespace beige::cli {

struct AuditTailOptions {
  int lines = 20;
  bool follow = false;
  std::string agent;  // name, or namespace/name; "" = all
};
// `beige audit tail`: the last records in readable columns; with -o json the lines as they stand in the file.
int RunAuditTail(const Globals& globals, const AuditTailOptions& options);

// `beige audit show ID`: the records of one call, also from rotated files.
int RunAuditShow(const Globals& globals, const std::string& id);

// One record as a line for a person; text that is no record comes back made printable.
std::string FormatAuditRecord(const std::string& line);

}  // namespace beige::cli

#endif
