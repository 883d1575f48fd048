#include "gateway/sessions/system_prompt.h"

#include <algorithm>

namespace beige::sessions {
namespace {
bool Has(const std::vector<std::string>& names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }
}  // namespace

std::string SystemPrompt(const Mind& mind, const std::string& agents_md) {
  const admin::Grant& grant = mind.agent.grant;
  std::string out = "You are " + grant.agent.name + ", an agent that works in a Linux sandbox of its own.";
  if (!grant.description.empty()) out += " " + grant.description;
  out += "\nYour files are in /workspace, which is kept; relative paths start there. The rest of the file system is read-only, but for /tmp.\n";
  if (!mind.tools.empty()) {
    out += "\n# Tools\n";
    out += Has(grant.core_tools, "exec") ? "Call these by name, or as commands within exec (then pipes and files work too):\n" : "Call these by name:\n";
    for (const auto& tool : mind.tools) {
      out += "- " + tool->name + ": " + tool->description + "\n";
      for (const std::string& usage : tool->usage) out += "    " + usage + "\n";
    }
    out += "More about each stands in /tools/packages/NAME/README.md.\n";
  }
  std::string skills;
  for (const std::string& skill : grant.skills) {
    if (!Has(mind.agent.in_force.unknown_skills, skill) && !mind.agent.in_force.unavailable_skills.contains(skill)) skills += "- /skills/" + skill + "/\n";
  }
  if (!skills.empty()) out += "\n# Skills\nWhat others have written down for work like yours; read a folder's SKILL.md or README.md before such work:\n" + skills;
  if (!grant.instructions.empty()) out += "\n# Instructions\n" + grant.instructions + (grant.instructions.ends_with('\n') ? "" : "\n");
  if (!agents_md.empty()) out += "\n# AGENTS.md of the workspace\n" + agents_md + (agents_md.ends_with('\n') ? "" : "\n");
  return out;
}

}  // namespace beige::sessions
