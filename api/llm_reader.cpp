#include "api/llm_reader.h"

#include <array>
#include <charconv>

#include "base/files.h"

namespace beige {
namespace {
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::array<std::string_view, kLlmApis> kApis = {"anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"};
constexpr std::array<std::string_view, kLlmApis> kBaseUrls = {"https://api.anthropic.com", "https://api.openai.com/v1", "https://api.openai.com/v1",
                                                              "https://generativelanguage.googleapis.com/v1beta"};
constexpr size_t kMaxModelId = 256;
constexpr double kMostPerMillion = 1e6;

// Host and port: between the scheme and the first slash.
std::string_view AuthorityOf(std::string_view url) {
  url.remove_prefix(url.find("://") + 3);
  return url.substr(0, url.find_first_of("/?#"));
}

bool IsLoopback(std::string_view authority) {
  const std::string_view host = authority.starts_with('[') ? authority.substr(0, authority.find(']') + 1) : authority.substr(0, authority.find(':'));
  return host == "localhost" || host == "[::1]" || (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

std::string BaseUrlOf(ConfigReader& reader, const YamlNode& node, const std::string& path, LlmApi api) {
  if (!node.IsString()) return std::string(kBaseUrls[static_cast<size_t>(api)]);
  std::string url = node.text;
  while (url.ends_with('/')) url.pop_back();
  const bool scheme = url.starts_with("http://") || url.starts_with("https://");
  bool plain = scheme && !AuthorityOf(url).empty();
  for (const char c : url) plain = plain && c > ' ' && c < 0x7f && c != '"' && c != '\\';
  if (plain && AuthorityOf(url).find('@') != std::string_view::npos) {
    reader.problems().Add(node.mark, path, "want an address without user and password, got one that is not shown; the key goes under apiKey");
  } else if (!plain || url.find_first_of("?#") != std::string::npos) {
    reader.problems().Want(node, path, "an http or https URL without a query, such as https://api.openai.com/v1");
  }
  return url;
}

double PriceOf(ConfigReader& reader, const YamlNode& node, const std::string& path) {
  if (node.IsNull()) return 0;
  double price = -1;
  if (node.kind == YamlNode::Kind::kInt || node.kind == YamlNode::Kind::kFloat) {
    const auto [end, error] = std::from_chars(node.text.data(), node.text.data() + node.text.size(), price, std::chars_format::fixed);
    if (error != std::errc() || end != node.text.data() + node.text.size()) price = -1;
  }
  if (price >= 0 && price <= kMostPerMillion) return price;
  reader.problems().Want(node, path, "US dollars for a million tokens, from 0 to 1000000, such as 3 or 0.25");
  return 0;
}

LlmModelConfig ModelOf(ConfigReader& reader, const YamlNode& node, const std::string& path) {
  LlmModelConfig model;
  model.context_window = node["contextWindow"].integer;
  model.max_tokens = node["maxTokens"].integer;
  for (const YamlNode& input : node["input"].items) model.images = model.images || input.text == "image";
  const YamlNode& cost = node["cost"];
  model.cost.input = PriceOf(reader, cost["input"], path + ".cost.input");
  model.cost.output = PriceOf(reader, cost["output"], path + ".cost.output");
  model.cost.cache_read = PriceOf(reader, cost["cacheRead"], path + ".cost.cacheRead");
  model.cost.cache_write = PriceOf(reader, cost["cacheWrite"], path + ".cost.cacheWrite");
  return model;
}

void ModelsOf(ConfigReader& reader, const YamlNode& map, const std::string& path, LlmProviderConfig& provider) {
  if (map.IsMap() && map.fields.empty()) reader.problems().Want(map, path, "at least one model");
  for (const YamlField& field : map.fields) {
    const std::string at = PathOf(path, field.key);
    bool plain = !field.key.empty() && field.key.size() <= kMaxModelId;
    for (const char c : field.key) plain = plain && c > ' ' && c < 0x7f;
    if (!plain) reader.problems().Add(field.mark, at, "want a model id of 1 to 256 printable ASCII characters without blanks");
    provider.models[field.key] = ModelOf(reader, field.value, at);
  }
}

LlmTimeouts TimeoutsOf(ConfigReader& reader, const YamlNode& node, const std::string& path) {
  const auto of = [&](const char* key, milliseconds low, milliseconds high) { return reader.Duration(node[key], PathOf(path, key), low, high); };
  const milliseconds least(100);
  return {of("connect", least, minutes(10)), of("firstToken", least, hours(1)), of("stall", least, hours(1)), of("total", seconds(1), hours(24)), of("queue", least, hours(1))};
}

LlmProviderConfig ProviderOf(ConfigReader& reader, const YamlNode& node, const std::string& path) {
  LlmProviderConfig provider;
  provider.api = ParseLlmApi(node["api"].text).value_or(LlmApi::kOpenAiCompletions);  // else the schema has reported it
  provider.base_url = BaseUrlOf(reader, node["baseUrl"], PathOf(path, "baseUrl"), provider.api);
  if (const YamlNode* key = node.Find("apiKey")) {
    provider.api_key = reader.SecretAt(*key, PathOf(path, "apiKey"));
    // A line break in it would make two headers of one.
    for (const char c : provider.api_key.Reveal()) {
      if (c > ' ' && c < 0x7f) continue;
      reader.problems().Add(key->mark, PathOf(path, "apiKey"), "want a key of printable ASCII characters without blanks and line breaks, got one that is not shown");
      break;
    }
    const bool clear = provider.base_url.starts_with("http://") && !IsLoopback(AuthorityOf(provider.base_url));
    if (clear && !node["allowPlainHttp"].boolean) {
      reader.problems().Add(node["baseUrl"].mark, PathOf(path, "baseUrl"), "want https, because with http everybody on the way can read the key; say allowPlainHttp: true if that is meant");
    }
  }
  provider.concurrency = node["concurrency"].integer;
  provider.timeouts = TimeoutsOf(reader, node["timeouts"], PathOf(path, "timeouts"));
  ModelsOf(reader, node["models"], PathOf(path, "models"), provider);
  return provider;
}
}  // namespace

LlmConfig LlmOf(ConfigReader& reader, const YamlNode& llm) {
  LlmConfig config;
  if (const YamlNode* file = llm.Find("caFile")) {
    config.ca_file = reader.Path(*file, "llm.caFile");
    const auto text = config.ca_file.empty() ? Result<std::string>("") : ReadFile(config.ca_file, 8u << 20);
    if (!text) {
      reader.problems().Add(file->mark, "llm.caFile", text.error().message);
    } else if (!config.ca_file.empty() && text->find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
      reader.problems().Add(file->mark, "llm.caFile", "want a PEM file with certificates, got " + config.ca_file + " which has none");
    }
  }
  reader.CheckNames(llm["providers"], "llm.providers");
  for (const YamlField& field : llm["providers"].fields) {
    config.providers[field.key] = ProviderOf(reader, field.value, PathOf("llm.providers", field.key));
    const YamlNode& file = field.value["apiKey"]["file"];
    if (file.IsString()) config.files.push_back(reader.Path(file, PathOf("llm.providers", field.key) + ".apiKey.file"));
  }
  if (!config.ca_file.empty()) config.files.push_back(config.ca_file);
  return config;
}

std::optional<LlmApi> ParseLlmApi(std::string_view word) {
  for (size_t i = 0; i < kApis.size(); ++i) {
    if (kApis[i] == word) return static_cast<LlmApi>(i);
  }
  return std::nullopt;
}

std::string_view LlmApiName(LlmApi api) { return kApis[static_cast<size_t>(api)]; }

}  // namespace beige
