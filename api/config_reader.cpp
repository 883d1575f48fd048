#include "api/config_reader.h"

#include <charconv>

#include "api/expand.h"
#include "api/quantity.h"
#include "api/schemas_compiled.h"
#include "api/yaml_reader.h"
#include "base/clock.h"
#include "base/files.h"

namespace beige {
namespace {

constexpr size_t kMaxSecretBytes = 64u << 10;

std::string FolderOf(const std::string& file) {
  const std::string absolute = file.starts_with('/') ? file : AbsolutePath(".", file);
  const size_t slash = absolute.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : absolute.substr(0, slash);
}

// What the YAML reader says about a value may hold the value; about a secret it must not.
std::vector<Problem> WithoutSecrets(std::vector<Problem> problems) {
  for (Problem& problem : problems) {
    const bool secret = problem.path.starts_with("secrets") || problem.path.find(".apiKey") != std::string::npos;
    if (secret && !problem.message.starts_with("this key")) problem.message = "want \"${NAME}\" or {file: PATH}, got a value that is not shown";
  }
  return problems;
}

bool IsAlnum(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

ConfigReader::ConfigReader(std::string_view text, const std::string& file, const std::string& kind, const Schema& schema, const EnvLookup& env)
    : env_(env), folder_(FolderOf(file)), problems_(file) {
  YamlStream stream = ReadYaml(text, file);
  if (!stream.problems.empty()) {
    problems_ = Problems(file, std::move(stream.problems));
    return;
  }
  if (stream.documents.size() > 1) {
    problems_.Add(stream.documents[1].root.mark, "", "a second document; want one");
    return;
  }
  if (stream.documents.empty()) {
    root_.kind = YamlNode::Kind::kMap;
    root_.mark = {1, 1};
  } else {
    problems_ = Problems(file, WithoutSecrets(std::move(stream.documents[0].problems)));
    root_ = std::move(stream.documents[0].root);
    if (!kind.empty() && !CheckHeader(root_, "", kind, problems_)) return;
  }
  if (!root_.IsMap()) {
    problems_.Want(root_, "", "a map");
    return;
  }
  Validate(schema, root_, "", problems_);
  readable_ = true;
}

std::string ConfigReader::Path(const YamlNode& node, const std::string& path) {
  if (!node.IsString()) return "";
  const Result<std::string> expanded = Expand(node.text, env_);
  if (!expanded) {
    const bool missing = expanded.error().code == Code::kNotFound;
    problems_.Add(node.mark, path, missing ? "the variable " + expanded.error().message + " is not set" : "want " + expanded.error().message + ", got " + Shown(node));
    return "";
  }
  if (expanded->empty() || expanded->find('\0') != std::string::npos) {
    problems_.Want(node, path, "a path that is not empty");
    return "";
  }
  return AbsolutePath(folder_, *expanded);
}

Listen ConfigReader::ListenAt(const YamlNode& node, const std::string& path) {
  if (!node.IsString()) return {};
  const Result<Listen> listen = ParseListen(node.text);
  if (!listen) {
    problems_.Want(node, path, listen.error().message);
    return {};
  }
  return *listen;
}

int64_t ConfigReader::Quantity(const YamlNode& node, const std::string& path, Result<int64_t> (*parse)(std::string_view)) {
  if (node.kind != YamlNode::Kind::kString && node.kind != YamlNode::Kind::kInt) return 0;
  const Result<int64_t> value = parse(node.kind == YamlNode::Kind::kInt ? std::to_string(node.integer) : node.text);
  if (!value) problems_.Want(node, path, value.error().message);
  return value.value_or(0);
}

int64_t ConfigReader::Bytes(const YamlNode& node, const std::string& path, int64_t minimum) {
  if (node.kind != YamlNode::Kind::kString && node.kind != YamlNode::Kind::kInt) return 0;
  const Result<int64_t> value = ParseBytes(node.kind == YamlNode::Kind::kInt ? std::to_string(node.integer) : node.text, minimum);
  if (!value) problems_.Want(node, path, value.error().message);
  return value.value_or(0);
}

std::chrono::milliseconds ConfigReader::Duration(const YamlNode& node, const std::string& path, std::chrono::milliseconds low, std::chrono::milliseconds high) {
  if (!node.IsString()) return low;
  const auto value = ParseDuration(node.text);
  if (!value || *value < low || *value > high) {
    problems_.Want(node, path, "a duration from " + FormatDuration(low) + " to " + FormatDuration(high) + ", such as 30s or 2m");
    return low;
  }
  return *value;
}

Secret ConfigReader::SecretAt(const YamlNode& node, const std::string& path) {
  const auto problem = [&](Mark mark, const std::string& message) {
    problems_.Add(mark, path, message);
    return Secret();
  };
  const std::string wanted = "want \"${NAME}\" or {file: PATH}";
  std::string value;
  if (node.IsString()) {
    if (node.text.find("${") == std::string::npos) return problem(node.mark, wanted + ", got a text that is not shown; a secret does not stand in the file itself");
    const auto expanded = Expand(node.text, env_);
    if (!expanded && expanded.error().code == Code::kNotFound) return problem(node.mark, "the variable " + expanded.error().message + " is not set in the gateway's environment");
    if (!expanded) return problem(node.mark, "want " + expanded.error().message);
    value = *expanded;
  } else if (node.IsMap() && node.fields.size() == 1 && node["file"].IsString()) {
    const std::string file = Path(node["file"], path + ".file");
    if (file.empty()) return Secret();
    auto content = ReadFile(file, kMaxSecretBytes);
    if (!content) return problem(node["file"].mark, content.error().message);
    if (content->ends_with('\n')) content->pop_back();
    if (content->ends_with('\r')) content->pop_back();
    value = std::move(*content);
  } else {
    return problem(node.mark, wanted);
  }
  if (value.empty()) return problem(node.mark, "the secret is empty");
  if (value.find('\0') != std::string::npos) return problem(node.mark, "the secret contains a NUL character, which no environment variable can");
  return Secret(std::move(value));
}

void ConfigReader::CheckNames(const YamlNode& map, const std::string& path) {
  for (const YamlField& field : map.fields) {
    if (!IsResourceName(field.key)) {
      problems_.Add(field.mark, PathOf(path, field.key), "want a name of 1 to 63 characters from a-z, 0-9, '.', '_' and '-', starting with a letter or digit");
    }
  }
}

Result<Listen> ParseListen(std::string_view text) {
  const std::string wanted = "a listening address such as 127.0.0.1:7433 or [::1]:7433";
  Listen out;
  const size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  if (colon == std::string_view::npos || (bracketed && text.find(']') != colon - 1)) return Fail(Code::kInvalid, wanted + " (the port is missing)");
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (bracketed) {
    host = host.substr(1, host.size() - 2);
    if (host.empty() || host.find_first_not_of("0123456789abcdefABCDEF:.%") != std::string_view::npos) return Fail(Code::kInvalid, wanted);
  } else {
    if (host.empty()) return Fail(Code::kInvalid, wanted + " (the host is missing; 0.0.0.0 is every address of the machine)");
    if (host.find(':') != std::string_view::npos) return Fail(Code::kInvalid, wanted + " (an IPv6 address stands in brackets)");
    for (const char c : host) {
      if (!IsAlnum(c) && c != '.' && c != '-') return Fail(Code::kInvalid, wanted);
    }
  }
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (port.empty() || error != std::errc() || end != port.data() + port.size()) return Fail(Code::kInvalid, wanted + " (a port is a number from 0 to 65535)");
  out.host = std::string(host);
  return out;
}

bool IsResourceName(std::string_view name) {
  if (name.empty() || name.size() > 63 || name[0] == '.' || name[0] == '_' || name[0] == '-') return false;
  for (const char c : name) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-')) return false;
  }
  return true;
}

bool IsVariableName(std::string_view name) {
  if (name.empty() || name.size() > 128 || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name) {
    if (!IsAlnum(c) && c != '_') return false;
  }
  return true;
}

}  // namespace beige
