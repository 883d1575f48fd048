#ifndef BEIGE_CLI_DOCUMENTS_H_
#define BEIGE_CLI_DOCUMENTS_H_

#include <string>
#include <string_view>
#include <vector>

namespace beige::cli {

// The documents of a YAML text, verbatim with their comments, without the `---` lines; those that hold only blanks and comments are left
// out. A line that starts with `---` is a separator wherever it stands (YAML forbids it inside a scalar), so no parser is needed.
std::vector<std::string> SplitDocuments(std::string_view text);

}  // namespace beige::cli

#endif
