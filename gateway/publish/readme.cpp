#include "gateway/publish/readme.h"

namespace beige {

std::string ToolReadme(const ToolManifest& tool) {
  std::string text = "# " + tool.name + "\n\n" + tool.description + "\n";
  if (!tool.usage.empty()) {
    text += "\n## Usage\n\n";
    for (const std::string& line : tool.usage) text += "    " + line + "\n";
  }
  text += "\n## Good to know\n\n";
  text += "Run it like any other command: arguments, pipes and exit status work as usual. It runs outside this sandbox";
  text += tool.stdin_open ? " and reads its standard input.\n" : "; its standard input is empty.\n";
  text += "Exit status 126 means that it was denied, 124 that it took too long, 125 that it could not be reached.\n";
  return text;
}

}  // namespace beige
