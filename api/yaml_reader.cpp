#include "api/yaml_reader.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "api/problems.h"
#include "api/utf8.h"

namespace beige {
namespace {

constexpr size_t kMaxBytes = 1u << 20;
constexpr size_t kMaxNodes = 20'000;        // aliases are counted each time: a bomb of 10^10 values ends here
constexpr size_t kMaxScalarBytes = 4u << 20;
constexpr int kMaxDepth = 64;
constexpr int kMaxDocuments = 4096;
// A last document of our own. yaml-cpp takes a quote that is never closed to the end of the text without a word; at a document marker
// inside of quotes it complains.
constexpr const char* kSentinel = "beige-end-of-file";

Mark MarkOf(const YAML::Mark& mark) { return mark.is_null() ? Mark{} : Mark{mark.line + 1, mark.column + 1}; }

Mark MarkAt(std::string_view text, size_t offset) {
  Mark mark{1, 1};
  for (size_t i = 0; i < offset; ++i) {
    if (text[i] == '\n') {
      ++mark.line;
      mark.column = 1;
    } else {
      ++mark.column;
    }
  }
  return mark;
}

std::string Hex(unsigned char byte) {
  constexpr const char* kDigits = "0123456789abcdef";
  return {'0', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

// One document of yaml-cpp's into our nodes.
class Converter {
 public:
  explicit Converter(Problems& problems) : problems_(problems) {}

  void Convert(const YAML::Node& node, int depth, const std::string& path, Mark fallback, YamlNode& out) {
    out.mark = node.Mark().is_null() ? fallback : MarkOf(node.Mark());
    if (node.IsNull() && out.mark.line != fallback.line && fallback.line > 0) out.mark = fallback;  // yaml-cpp gives the next token's place
    if (stopped_) return;
    if (++nodes_ > kMaxNodes) return Stop(out.mark, path, "more than " + std::to_string(kMaxNodes) + " values in one document, aliases counted");
    if (depth > kMaxDepth) return Stop(out.mark, path, "nested more than " + std::to_string(kMaxDepth) + " levels deep");
    const std::string& tag = node.Tag();
    if (!tag.empty() && tag != "?" && tag != "!" && tag != "tag:yaml.org,2002:str") {
      problems_.Add(out.mark, path, "tags such as " + tag.substr(0, 60) + " are not accepted");
    }
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        return;
      case YAML::NodeType::Scalar:
        return Scalar(node, path, out);
      case YAML::NodeType::Sequence:
        out.kind = YamlNode::Kind::kList;
        for (const YAML::Node& item : node) {
          if (stopped_) return;
          const std::string inner = PathOf(path, out.items.size());
          Convert(item, depth + 1, inner, out.mark, out.items.emplace_back());
        }
        return;
      case YAML::NodeType::Map:
        return Map(node, depth, path, out);
    }
  }

 private:
  void Stop(Mark mark, const std::string& path, std::string why) {
    stopped_ = true;
    problems_.Add(mark, path, std::move(why));
  }

  void Scalar(const YAML::Node& node, const std::string& path, YamlNode& out) {
    const std::string& text = node.Scalar();
    scalar_bytes_ += text.size();
    if (scalar_bytes_ > kMaxScalarBytes) return Stop(out.mark, path, "more than 4 MiB of text in one document, aliases counted");
    if (node.Tag() == "?" || node.Tag().empty()) {
      if (const std::string refused = ResolvePlain(text, out); !refused.empty()) problems_.Add(out.mark, path, refused);
      return;
    }
    out.kind = YamlNode::Kind::kString;
    out.text = text;
    // What escapes in double quotes can make, though the text as a whole was checked.
    if (text.find('\0') != std::string::npos) problems_.Add(out.mark, path, "contains a NUL character");
    if (FindInvalidUtf8(text) != std::string::npos) problems_.Add(out.mark, path, "an escape makes something that is not a character");
  }

  void Map(const YAML::Node& node, int depth, const std::string& path, YamlNode& out) {
    out.kind = YamlNode::Kind::kMap;
    std::unordered_map<std::string, Mark> seen;
    for (const auto& entry : node) {
      if (stopped_ || problems_.full()) return;
      const Mark mark = entry.first.Mark().is_null() ? out.mark : MarkOf(entry.first.Mark());
      if (!entry.first.IsScalar()) {
        problems_.Add(mark, path, "a key must be a word, not a list, a map or nothing");
        continue;
      }
      const std::string& key = entry.first.Scalar();
      const std::string key_path = PathOf(path, key);
      if (entry.first.Tag() == "?") {
        if (key == "<<") {
          problems_.Add(mark, path, "merge keys (<<) are not accepted; write the fields out");
          continue;
        }
        YamlNode plain;
        if (const std::string refused = ResolvePlain(key, plain); !refused.empty()) problems_.Add(mark, key_path, "as a key, " + refused);
      }
      if (key.find('\0') != std::string::npos || FindInvalidUtf8(key) != std::string::npos) problems_.Add(mark, path, "a key contains what is not a character");
      scalar_bytes_ += key.size();
      const auto [first, is_new] = seen.emplace(key, mark);
      if (!is_new) {
        problems_.Add(mark, key_path, "this key stands twice in one map; the first is at line " + std::to_string(first->second.line));
        continue;
      }
      YamlField& field = out.fields.emplace_back();
      field.key = key;
      field.mark = mark;
      Convert(entry.second, depth + 1, key_path, mark, field.value);
    }
  }

  Problems& problems_;
  size_t nodes_ = 0;
  size_t scalar_bytes_ = 0;
  bool stopped_ = false;
};

// The text that yaml-cpp is given, or a problem.
bool Prepare(std::string_view text, std::string& out, Problems& problems) {
  if (text.size() > kMaxBytes) {
    problems.Add({}, "", "the file has " + std::to_string(text.size()) + " bytes; want at most 1 MiB");
    return false;
  }
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    problems.Add({1, 1}, "", "the file is UTF-16; save it as UTF-8");
    return false;
  }
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (const size_t at = FindInvalidUtf8(text); at != std::string_view::npos) {
    problems.Add(MarkAt(text, at), "", "byte " + Hex(static_cast<unsigned char>(text[at])) + " is not UTF-8");
    return false;
  }
  out.reserve(text.size() + 64);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\r') {
      if (i + 1 >= text.size() || text[i + 1] != '\n') out += '\n';
    } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
      problems.Add(MarkAt(text, i), "", "control character " + Hex(static_cast<unsigned char>(c)) + " in the file");
      return false;
    } else {
      out += c;
    }
  }
  return true;
}

constexpr const char* kInQuotes = "illegal document indicator in scalar";

class Silence final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

std::vector<YAML::Node> Parse(const std::string& text) {
  const std::string whole = text + "\n---\n" + kSentinel + "\n";
  // Of some malformed texts yaml-cpp makes empty documents without end (found by fuzzing), so they are counted before they are kept.
  std::istringstream in(whole);
  YAML::Parser parser(in);
  Silence nobody;
  for (int documents = 0; parser.HandleNextDocument(nobody); ++documents) {
    if (documents > kMaxDocuments) throw YAML::ParserException(YAML::Mark::null_mark(), "more than " + std::to_string(kMaxDocuments) + " documents");
  }
  return YAML::LoadAll(whole);
}

// yaml-cpp sees at the end that a quote is open. It was opened on the last line that, as an end, still leaves it open.
int LineOfOpenQuote(const std::string& text, int lines) {
  constexpr size_t kWorthTheWork = 64u << 10;
  if (text.size() > kWorthTheWork) return lines;
  std::string prefix = text;
  if (prefix.ends_with('\n')) prefix.pop_back();
  int opened = lines;
  for (int tries = 0; opened > 1 && tries < 400; ++tries) {
    const size_t cut = prefix.rfind('\n');
    if (cut == std::string::npos) break;
    prefix.resize(cut);
    try {
      Parse(prefix);
      break;
    } catch (const YAML::Exception& e) {
      if (e.msg != kInQuotes) break;
    }
    --opened;
  }
  return opened;
}

bool HasTabIndent(const std::string& text, int line) {
  size_t at = 0;
  for (int i = 1; i < line && at != std::string::npos; ++i) at = text.find('\n', at) == std::string::npos ? std::string::npos : text.find('\n', at) + 1;
  if (at == std::string::npos) return false;
  const size_t first = text.find_first_not_of(" \t", at);
  return text.substr(at, first == std::string::npos ? first : first - at).find('\t') != std::string::npos;
}

void Explain(const YAML::Exception& e, const std::string& text, Problems& problems) {
  const int lines = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + (text.ends_with('\n') ? 0 : 1);
  Mark mark = MarkOf(e.mark);
  if (mark.line > lines) mark = {lines, 0};
  if (e.msg == kInQuotes) {
    problems.Add({LineOfOpenQuote(text, lines), 0}, "", "a quote that is opened here is never closed");
  } else if (e.msg == "bad file") {
    problems.Add(mark, "", "nested too deeply");
  } else if (HasTabIndent(text, mark.line)) {
    problems.Add({mark.line, 1}, "", "a tab in the indentation; want spaces");
  } else {
    problems.Add(mark, "", "not valid YAML: " + e.msg);
  }
}

}  // namespace

YamlStream ReadYaml(std::string_view text, const std::string& file) {
  YamlStream stream;
  Problems problems(file);
  std::string prepared;
  const auto refuse = [&] {
    stream.documents.clear();
    stream.problems = problems.Take();
    return stream;
  };
  if (!Prepare(text, prepared, problems)) return refuse();
  try {
    std::vector<YAML::Node> nodes = Parse(prepared);
    if (nodes.empty() || !nodes.back().IsScalar() || nodes.back().Scalar() != kSentinel) {
      problems.Add({}, "", "not valid YAML: something at the end of the file is not closed");
      return refuse();
    }
    nodes.pop_back();
    for (const YAML::Node& node : nodes) {
      Problems own(file);
      YamlDocument document;
      Converter(own).Convert(node, 1, "", {}, document.root);
      document.problems = own.Take();
      if (!document.root.IsNull() || !document.problems.empty()) stream.documents.push_back(std::move(document));
    }
  } catch (const YAML::Exception& e) {
    Explain(e, prepared, problems);
    return refuse();
  } catch (const std::exception& e) {
    problems.Add({}, "", std::string("not readable as YAML: ") + e.what());
    return refuse();
  }
  return stream;
}

}  // namespace beige
