#ifndef BEIGE_RUNTIME_ENGINE_LABELS_H_
#define BEIGE_RUNTIME_ENGINE_LABELS_H_

#include <map>
#include <string>

#include "runtime/sandbox.h"

namespace beige::runtime::engine {

inline constexpr char kHomeLabel[] = "beige.dev/home";
inline constexpr char kUidLabel[] = "beige.dev/uid";

using Labels = std::map<std::string, std::string>;

// beige.dev/{home,namespace,agent,uid}.
Labels KeyLabels(const SandboxKey& key);
// The same and beige.dev/{spec-hash,template,instance}.
Labels SandboxLabels(const SandboxSpec& spec);

// Whose container the labels say it is; all empty unless home, namespace, agent and uid are all there: a label alone proves nothing.
SandboxKey KeyOf(const Labels& labels);
// Fills key, instance, spec_hash and template_version.
void ReadLabels(const Labels& labels, Observed& into);

// JSON for the query parameter `filters`: things that have all these labels.
std::string LabelFilter(const Labels& labels);

}  // namespace beige::runtime::engine

#endif
