#include "gateway/sessions/transcript.h"

#include <algorithm>
#include <utility>

#include "api/utf8.h"

namespace beige::sessions {
namespace {
constexpr size_t kImageBytes = 4000;  // about 1000 tokens
constexpr size_t kTitleBytes = 60;

// A user's message that holds results answers the message before it, and can't be parted from it.
bool MayBegin(const llm::Message& message) {
  return message.role == llm::Role::kAssistant ||
         std::none_of(message.parts.begin(), message.parts.end(), [](const llm::Part& part) { return std::holds_alternative<llm::ToolResult>(part); });
}

size_t BytesOf(const llm::Part& part) {
  if (const auto* text = std::get_if<llm::Text>(&part)) return text->text.size();
  if (const auto* thought = std::get_if<llm::Thinking>(&part)) return thought->signature.size();
  if (const auto* call = std::get_if<llm::ToolCall>(&part)) return call->name.size() + call->arguments.size();
  if (const auto* result = std::get_if<llm::ToolResult>(&part)) return result->text.size() + result->images.size() * kImageBytes;
  return kImageBytes;
}
}  // namespace

size_t BytesOf(const llm::Message& message) {
  size_t bytes = 16;
  for (const llm::Part& part : message.parts) bytes += BytesOf(part);
  return bytes;
}

std::string TitleOf(std::string_view text) {
  const size_t start = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  text.remove_prefix(start);
  text = text.substr(0, text.find_first_of("\r\n"));
  if (text.size() <= kTitleBytes) return std::string(text);
  return std::string(text.substr(0, CharacterStart(text, kTitleBytes))) + "...";
}

Transcript Transcript::Read(std::string_view file) {
  Transcript out;
  while (!file.empty()) {
    const size_t end = std::min(file.find('\n'), file.size());
    if (auto line = DecodeLine(file.substr(0, end))) {
      out.Apply(*line);
      if (const auto* partial = std::get_if<Partial>(&line->record)) out.Gather(*partial);
    } else {
      ++out.next_line_;
    }
    file.remove_prefix(std::min(end + 1, file.size()));
  }
  return out;
}

void Transcript::Gather(const Partial& partial) {
  if (!cut_answer_) cut_answer_.emplace();
  cut_answer_->model = partial.model;
  std::vector<llm::Part>& parts = cut_answer_->message.parts;
  if (parts.empty() || std::exchange(cut_part_, partial.part) != partial.part) parts.emplace_back(llm::Text{});
  std::get<llm::Text>(parts.back()).text += partial.text;
  cut_part_ = partial.part;
}

// As the user's, into the last message when that is the user's too: dialects differ in what they make of two in a row.
void Transcript::Told(llm::Part part) {
  uncounted_bytes_ += BytesOf(part);
  if (messages_.empty() || messages_.back()->role != llm::Role::kUser) {
    messages_.emplace_back(llm::Role::kUser, std::vector<llm::Part>{std::move(part)});
    lines_.push_back(line_);
    return;
  }
  llm::Message longer = *messages_.back();
  longer.parts.push_back(std::move(part));
  messages_.back() = llm::MessageRef(std::move(longer));
}

void Transcript::Take(const std::string& prompt) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const Said& said) { return said.prompt == prompt; });
  if (found == waiting_.end()) return;
  for (llm::Image& image : found->images) Told(std::move(image));
  Told(llm::Text{std::move(found->text)});
  waiting_.erase(found);
}

bool Transcript::HasDetached() const {
  return running_detached_ || std::any_of(waiting_.begin(), waiting_.end(), [](const Said& said) { return said.detach; });
}

void Transcript::Begin(const std::string& prompt) {
  cut_answer_.reset();
  resumed_ = running_ == prompt;
  if (resumed_) return;
  running_ = prompt;
  running_detached_.reset();
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const Said& said) { return said.prompt == prompt; });
  if (found != waiting_.end() && found->detach) running_detached_ = Said{prompt, found->actor, found->text, {}, found->steer, true};
  Take(prompt);
}

void Transcript::Apply(const Line& line) {
  next_line_ = std::max(next_line_, line.n) + 1;
  line_ = line.n;
  updated_ = line.time;
  const Record& record = line.record;
  if (const auto* begun = std::get_if<Begun>(&record)) {
    begun_ = *begun;
    created_ = line.time;
  } else if (const auto* said = std::get_if<Said>(&record)) {
    if (title_.empty()) title_ = TitleOf(said->text);
    waiting_.push_back(*said);
  } else if (const auto* turn = std::get_if<TurnBegun>(&record)) {
    Begin(turn->prompt);
    turns_ = turn->turn;
  } else if (const auto* steered = std::get_if<Steered>(&record)) {
    Take(steered->prompt);
  } else if (const auto* dropped = std::get_if<Dropped>(&record)) {
    std::erase_if(waiting_, [&](const Said& waits) { return waits.prompt == dropped->prompt; });
  } else if (const auto* answered = std::get_if<Answered>(&record)) {
    if (answered->message.parts.empty() && !answered->unfinished.empty()) {  // only what was spent
      total_ += answered->usage;
      return;
    }
    open_calls_.clear();
    cut_answer_.reset();
    for (const llm::Part& part : answered->message.parts) {
      if (const auto* call = std::get_if<llm::ToolCall>(&part)) open_calls_.push_back(*call);
    }
    calls_ += static_cast<int64_t>(open_calls_.size());
    const llm::Usage& usage = answered->usage;
    if (usage.input + usage.cache_read + usage.cache_write > 0) {
      counted_tokens_ = usage.input + usage.cache_read + usage.cache_write + usage.output;
      uncounted_bytes_ = 0;
    } else {
      uncounted_bytes_ += BytesOf(answered->message);
    }
    total_ += usage;
    if (!answered->message.parts.empty()) {
      messages_.emplace_back(answered->message);
      lines_.push_back(line_);
    }
    for (const std::string& note : answered->notes) Told(llm::Text{note});
  } else if (const auto* resulted = std::get_if<Resulted>(&record)) {
    std::erase_if(open_calls_, [&](const llm::ToolCall& call) { return call.id == resulted->result.call_id; });
    Told(resulted->result);
  } else if (std::holds_alternative<PicturesRefused>(record)) {
    if (!messages_.empty()) messages_.back() = llm::MessageRef(llm::WithoutImages(*messages_.back(), "which the provider refused"));
  } else if (std::holds_alternative<TurnEnded>(record)) {
    running_.clear();
    running_detached_.reset();
    cut_answer_.reset();
  } else if (const auto* set = std::get_if<ModelSet>(&record)) {
    model_ = set->model;
    thinking_ = set->thinking;
  } else if (const auto* compacted = std::get_if<Compacted>(&record)) {
    Replace(*compacted);
  }
}

void Transcript::Replace(const Compacted& compacted) {
  total_ += compacted.usage;
  const auto kept = static_cast<size_t>(std::lower_bound(lines_.begin(), lines_.end(), compacted.from) - lines_.begin());
  std::vector<llm::MessageRef> rest(messages_.begin() + static_cast<ptrdiff_t>(kept), messages_.end());
  std::vector<int64_t> rest_lines(lines_.begin() + static_cast<ptrdiff_t>(kept), lines_.end());
  messages_.clear();
  lines_.clear();
  Told(llm::Text{"Summary of the conversation so far, which it replaces:\n\n" + compacted.summary});
  lines_.front() = 0;
  summarized_ = true;
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i]->role == llm::Role::kUser && i == 0) {
      for (const llm::Part& part : rest[i]->parts) Told(part);
      continue;
    }
    messages_.push_back(rest[i]);
    lines_.push_back(rest_lines[i]);
  }
  counted_tokens_ = 0;
  uncounted_bytes_ = 0;
  for (const llm::MessageRef& message : messages_) uncounted_bytes_ += sessions::BytesOf(*message);
}

std::optional<int64_t> Transcript::CutFor(size_t bytes) const {
  size_t kept = 0;
  size_t cut = messages_.size();
  for (size_t i = messages_.size(); i > 0; --i) {
    kept += sessions::BytesOf(*messages_[i - 1]);
    if (kept > bytes && cut < messages_.size()) break;
    if (MayBegin(*messages_[i - 1])) cut = i - 1;
  }
  if (cut == 0 || cut >= messages_.size() || (summarized_ && cut == 1)) return std::nullopt;
  return lines_[cut];
}

std::vector<llm::MessageRef> Transcript::Before(int64_t line) const {
  const auto end = std::lower_bound(lines_.begin(), lines_.end(), line) - lines_.begin();
  return {messages_.begin(), messages_.begin() + end};
}

}  // namespace beige::sessions
