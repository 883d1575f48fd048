#include "gateway/config/last_good.h"

#include <nlohmann/json.hpp>

#include "base/files.h"

namespace beige {
namespace {
std::string FileOf(const HomePaths& paths) { return paths.DataGateway() + "/last-good-config.json"; }
}  // namespace

Result<> SaveLastGood(const HomePaths& paths, const ConfigSet& set) {
  const nlohmann::json saved = {{"v", 1}, {"texts", set.texts}};
  const std::string text = saved.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto former = ReadFileIfExists(FileOf(paths));
  if (former && *former == text) return {};
  return WriteFileAtomic(FileOf(paths), text, 0600);
}

std::optional<ConfigSet> LoadLastGood(const HomePaths& paths, const EnvLookup& env) {
  const auto text = ReadFileIfExists(FileOf(paths));
  if (!text || !*text) return std::nullopt;
  const nlohmann::json saved = nlohmann::json::parse(**text, nullptr, false);
  if (!saved.is_object() || !saved.contains("texts") || !saved["texts"].is_object()) return std::nullopt;
  std::map<std::string, std::string> texts;
  for (const auto& [path, value] : saved["texts"].items()) {
    if (value.is_string()) texts[path] = value.get<std::string>();
  }
  const TextReader read = [&](const std::string& path) -> Result<std::optional<std::string>> {
    const auto found = texts.find(path);
    return found == texts.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
  return LoadConfigSet(paths, read, env).value;
}

}  // namespace beige
