#include "gateway/roster/grant_store.h"

#include <algorithm>

#include "api/agent_names.h"
#include "base/files.h"
#include "base/log.h"
#include "gateway/llm/model.h"

namespace beige {
namespace {
bool IsPlain(std::string_view text, size_t limit, std::string_view more) {
  return !text.empty() && text.size() <= limit && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || more.find(c) != std::string_view::npos;
  });
}
}  // namespace

Result<> CheckUid(const std::string& uid) {
  if (IsPlain(uid, 64, "-")) return {};
  return Fail(Code::kInvalid, "grant: uid: want letters, digits and '-', at most 64, got \"" + uid + "\"");
}

Result<> CheckGrant(const admin::Grant& grant) {
  BEIGE_TRY(CheckUid(grant.agent.uid));
  if (!IsPlain(grant.agent.name, 63, "-")) return Fail(Code::kInvalid, "grant: agent: want a DNS label, got \"" + grant.agent.name + "\"");
  if (!IsPlain(grant.agent.namespace_, 63, "-")) return Fail(Code::kInvalid, "grant: namespace: want a DNS label, got \"" + grant.agent.namespace_ + "\"");
  for (const auto& list : {grant.tools, grant.skills}) {
    for (const auto& name : list) {
      if (!IsPlain(name, 63, "-_.") || name.front() == '.' || name.front() == '-') {
        return Fail(Code::kInvalid, "grant: want the name of a tool or skill, got \"" + name + "\"");
      }
    }
  }
  for (const auto& name : grant.core_tools) {
    if (!IsPlain(name, 63, "-_")) return Fail(Code::kInvalid, "grant: want the name of a core tool, got \"" + name + "\"");
  }
  for (const auto& choice : grant.model_choices) {
    if (!llm::ParseModelName(choice.name) || choice.name.size() > 2048) {
      return Fail(Code::kInvalid, "grant: want a model as PROVIDER/MODEL, got \"" + choice.name.substr(0, 200) + "\"");
    }
    if (std::find(std::begin(kThinkingLevels), std::end(kThinkingLevels), choice.thinking_level) == std::end(kThinkingLevels)) {
      return Fail(Code::kInvalid, "grant: no such thinking level: \"" + choice.thinking_level.substr(0, 200) + "\"");
    }
  }
  return {};
}

Result<std::vector<admin::Grant>> GrantStore::Load() const {
  BEIGE_TRY(MakeDirs(directory_, 0700));
  BEIGE_ASSIGN(const auto names, ListDir(directory_));
  std::vector<admin::Grant> grants;
  for (const auto& name : names) {
    if (name.front() == '.' || !name.ends_with(".json")) continue;
    const std::string path = JoinPath(directory_, name);
    Result<admin::Grant> grant = Fail(Code::kInternal, "");
    if (auto text = ReadFile(path); text) {
      grant = admin::DecodeGrant(*text);
    } else {
      grant = tl::make_unexpected(text.error());
    }
    if (grant) {
      if (auto good = CheckGrant(*grant); !good) grant = tl::make_unexpected(good.error());
    }
    if (!grant) {
      LogError("a stored grant can't be read; the operator will send it again", {{"file", path}, {"error", grant.error().message}});
      continue;
    }
    grants.push_back(std::move(*grant));
  }
  return grants;
}

Result<> GrantStore::Store(const admin::Grant& grant) const {
  BEIGE_TRY(MakeDirs(directory_, 0700));
  return WriteFileAtomic(JoinPath(directory_, grant.agent.uid + ".json"), admin::EncodeGrant(grant) + "\n", 0600);
}

Result<> GrantStore::Remove(const std::string& uid) const { return RemoveFile(JoinPath(directory_, uid + ".json")); }

}  // namespace beige
