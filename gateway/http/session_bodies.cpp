#include "gateway/http/session_bodies.h"

#include <nlohmann/json.hpp>

#include "base/random.h"

namespace beige {
namespace {
using nlohmann::json;
using namespace std::string_view_literals;
const char* const kPromptExample = R"({"text":"What is in /workspace?"})";

// A file that is not what it is called would be refused by the model's provider, again at each later prompt of the session.
bool Looks(std::string_view media_type, std::string_view bytes) {
  if (media_type == "image/png") return bytes.starts_with("\x89PNG\r\n\x1a\n"sv);
  if (media_type == "image/jpeg") return bytes.starts_with("\xff\xd8\xff"sv);
  if (media_type == "image/gif") return bytes.starts_with("GIF87a"sv) || bytes.starts_with("GIF89a"sv);
  return bytes.starts_with("RIFF"sv) && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP"sv;
}

BodyResult<llm::Image> ReadImage(const json& value, const std::string& field) {
  if (!value.is_object()) return BadField(field, std::string("want an object with mediaType and data, got ") + value.type_name());
  if (auto known = CheckFields(value, {"mediaType", "data"}, field + "."); !known) return tl::make_unexpected(known.error());
  llm::Image image;
  const auto type = value.find("mediaType");
  if (type != value.end() && type->is_string()) image.media_type = type->get<std::string>();
  if (image.media_type != "image/png" && image.media_type != "image/jpeg" && image.media_type != "image/gif" && image.media_type != "image/webp") {
    return BadField(field + ".mediaType", "want image/png, image/jpeg, image/gif or image/webp" + (image.media_type.empty() ? "" : ", got \"" + image.media_type.substr(0, 100) + "\""));
  }
  const auto data = value.find("data");
  if (data == value.end() || !data->is_string()) return BadField(field + ".data", "want the image as base64");
  auto bytes = Base64Decode(data->get_ref<const std::string&>());
  if (!bytes) return BadField(field + ".data", bytes.error().message);
  if (!Looks(image.media_type, *bytes)) return BadField(field + ".data", "does not begin as " + image.media_type + " does");
  image.bytes = std::move(*bytes);
  return image;
}

BodyResult<> ReadImages(const json& body, std::vector<llm::Image>& images) {
  const auto list = body.find("images");
  if (list == body.end() || list->is_null()) return {};
  if (!list->is_array()) return BadField("images", std::string("want a list, got ") + list->type_name());
  if (list->size() > kMaxPromptImages) return BadField("images", "want " + std::to_string(kMaxPromptImages) + " at most, got " + std::to_string(list->size()));
  for (size_t i = 0; i < list->size(); ++i) {
    auto image = ReadImage((*list)[i], "images[" + std::to_string(i) + "]");
    if (!image) return tl::make_unexpected(image.error());
    images.push_back(std::move(*image));
  }
  return {};
}

BodyResult<> ReadChoice(const json& body, std::optional<std::string>& model, std::optional<llm::ThinkingLevel>& thinking) {
  auto name = StringField(body, "model");
  if (!name) return tl::make_unexpected(name.error());
  if (!name->empty()) {
    if (!llm::ParseModelName(*name)) return BadField("model", "want PROVIDER/ID, got \"" + name->substr(0, 100) + "\"");
    model = std::move(*name);
  } else if (const auto given = body.find("model"); given != body.end() && given->is_string()) {
    return BadField("model", "want PROVIDER/ID, got \"\"");
  }
  auto level = StringField(body, "thinkingLevel");
  if (!level) return tl::make_unexpected(level.error());
  if (const auto given = body.find("thinkingLevel"); given != body.end() && given->is_string()) {
    thinking = llm::ParseThinkingLevel(*level);
    if (!thinking) return BadField("thinkingLevel", "want off, minimal, low, medium or high, got \"" + level->substr(0, 100) + "\"");
  }
  return {};
}

BodyResult<ChoiceBody> DecodeChoice(std::string_view text, const char* example) {
  json body = json::object();
  if (auto parsed = ParseStrict(text, {"model", "thinkingLevel"}, example, body); !parsed) return tl::make_unexpected(parsed.error());
  ChoiceBody choice;
  if (auto read = ReadChoice(body, choice.model, choice.thinking); !read) return tl::make_unexpected(read.error());
  return choice;
}
}  // namespace

BodyResult<PromptBody> DecodePromptBody(std::string_view text) {
  json body;
  const std::vector<std::string> fields = {"text", "images", "session", "model", "thinkingLevel", "steer", "stream", "detach"};
  if (auto parsed = ParseStrict(text, fields, kPromptExample, body); !parsed) return tl::make_unexpected(parsed.error());
  PromptBody out;
  sessions::Prompt& prompt = out.prompt;

  const auto said = body.find("text");
  if (said == body.end()) return BadField("text", "is missing; want what is said to the agent");
  if (!said->is_string()) return BadField("text", std::string("want a string, got ") + said->type_name());
  prompt.text = said->get<std::string>();
  if (prompt.text.empty()) return BadField("text", "is empty; want what is said to the agent");
  if (prompt.text.size() > kMaxPromptText) {
    return BadField("text", "want " + std::to_string(kMaxPromptText) + " bytes at most, got " + std::to_string(prompt.text.size()) + "; put the rest in a file of the workspace");
  }
  if (auto read = ReadImages(body, prompt.images); !read) return tl::make_unexpected(read.error());
  if (auto read = ReadChoice(body, prompt.model, prompt.thinking); !read) return tl::make_unexpected(read.error());

  auto session = StringField(body, "session");
  if (!session) return tl::make_unexpected(session.error());
  if (const auto given = body.find("session"); session->empty() && given != body.end() && given->is_string()) {
    return BadField("session", "is empty; leave it out for a new one");
  }
  prompt.session = std::move(*session);

  for (const auto& [field, value] : {std::pair{"steer", &prompt.steer}, std::pair{"stream", &out.stream}, std::pair{"detach", &prompt.detach}}) {
    const auto given = BoolField(body, field, *value);
    if (!given) return tl::make_unexpected(given.error());
    *value = *given;
  }
  if (prompt.steer && prompt.session.empty()) return BadField("steer", "want the session whose turn it is told to, in the field session");
  return out;
}

BodyResult<PromptBody> DecodeBeigePrompt(std::string_view text, const std::string& agent) {
  json body;
  if (auto parsed = ParseStrict(text, {"message", "sessionKey"}, R"({"message":"Hi"})", body); !parsed) return tl::make_unexpected(parsed.error());
  auto message = StringField(body, "message");
  if (!message) return tl::make_unexpected(message.error());
  if (message->empty()) return BadField("message", "want what is said to the agent");
  if (message->size() > kMaxPromptText) return BadField("message", "want " + std::to_string(kMaxPromptText) + " bytes at most, got " + std::to_string(message->size()));
  auto key = StringField(body, "sessionKey");
  if (!key) return tl::make_unexpected(key.error());
  if (key->size() > kMaxSessionKey) return BadField("sessionKey", "want " + std::to_string(kMaxSessionKey) + " bytes at most, got " + std::to_string(key->size()));
  if (key->empty()) *key = "api:" + agent + ":default";
  PromptBody out;
  out.prompt.text = std::move(*message);
  out.prompt.session = "key-" + Sha256Hex(*key).substr(0, 40);
  out.prompt.make = true;
  out.stream = false;
  out.beige = true;
  return out;
}

BodyResult<ChoiceBody> DecodeNewSessionBody(std::string_view text) {
  if (text.empty()) return ChoiceBody{};
  return DecodeChoice(text, "{}");
}

BodyResult<ChoiceBody> DecodeModelBody(std::string_view text) {
  auto choice = DecodeChoice(text, R"({"model":"PROVIDER/ID"})");
  if (choice && !choice->model) return BadField("model", "is missing; want PROVIDER/ID, one of the agent's choices");
  return choice;
}

BodyResult<std::string> DecodeAbortBody(std::string_view text) {
  if (text.empty()) return std::string();
  json body;
  if (auto parsed = ParseStrict(text, {"prompt"}, "{}", body); !parsed) return tl::make_unexpected(parsed.error());
  auto prompt = StringField(body, "prompt");
  if (const auto given = body.find("prompt"); prompt && prompt->empty() && given != body.end() && given->is_string()) {
    return BadField("prompt", "is empty; leave it out to abort all of the session's");
  }
  return prompt;
}

BodyResult<> DecodeEmptyBody(std::string_view text) {
  if (text.empty()) return {};
  json body;
  return ParseStrict(text, {}, "{}", body);
}

}  // namespace beige
