#include "gateway/control/job_channel.h"

#include <algorithm>

namespace beige {
namespace {
// Data frames are at most BGE_CHUNK; what a PID 1 says otherwise is short.
constexpr size_t kMaxPayload = 128u << 10;
constexpr size_t kMaxText = 1024;
// Of Turns::kShare. An exit is the end of a call, with its record; bytes are copied once more, to the caller.
constexpr int kExitCost = 12;
constexpr size_t kBytesPerFrameCost = 2048;

void AddCredit(uint32_t& credit, uint32_t more, uint32_t& added) {
  added = std::min<uint32_t>(more, BGE_WINDOW_INITIAL - std::min<uint32_t>(credit, BGE_WINDOW_INITIAL));
  credit += added;
}
}  // namespace

namespace job {
void Arg(std::string& fields, std::string_view arg) { v2::AppendField(fields, BGE_TAG_ARG, arg); }
void Env(std::string& fields, std::string_view assignment) { v2::AppendField(fields, BGE_TAG_ENV, assignment); }
void Env(std::string& fields, std::string_view name, std::string_view value) {
  std::string text;
  text.reserve(name.size() + 1 + value.size());
  text.append(name).append("=").append(value);
  v2::AppendField(fields, BGE_TAG_ENV, text);
}
void Cwd(std::string& fields, std::string_view directory) { v2::AppendField(fields, BGE_TAG_CWD, directory); }
void Flags(std::string& fields, uint32_t flags) { v2::AppendU32Field(fields, BGE_TAG_FLAGS, flags); }
void DeadlineMs(std::string& fields, uint32_t ms) { v2::AppendU32Field(fields, BGE_TAG_DEADLINE, ms); }
void Tty(std::string& fields, v2::TerminalSize size) { v2::AppendField(fields, BGE_TAG_TTY, v2::EncodeSize(size)); }
}  // namespace job

JobChannel::JobChannel(Loop& loop, WriteBatch& batch, UniqueFd fd, JobChannelOwner* owner, Party* party)
    : batch_(batch), party_(party), stream_(loop, batch, std::move(fd), this, party), owner_(owner), reader_(kMaxPayload) {}

JobChannel::~JobChannel() {
  *alive_ = false;
  if (later_) party_->Leave(this);
  owner_ = nullptr;
  state_ = State::kDown;
  EndJobs("closed");
}

void JobChannel::Close(std::string_view why) {
  if (state_ == State::kDown) return;
  state_ = State::kDown;
  stream_.Flush();
  stream_.CloseWhenSent();
  const std::string reason(why);  // may point into what goes away
  const auto alive = alive_;
  EndJobs(reason);
  if (*alive && owner_ != nullptr) owner_->OnDown(reason);
}

// One at a time: who hears of one end may let go of other jobs.
void JobChannel::EndJobs(std::string_view why) {
  while (!jobs_.empty()) {
    const auto first = jobs_.begin();
    JobSink* sink = first->second.sink;
    jobs_.erase(first);
    if (sink != nullptr) sink->OnExit({BGE_HOW_LOST, 125, std::string(why)});
  }
}

void JobChannel::Accept() {
  if (state_ != State::kHello) return;
  state_ = State::kUp;
  Send(0, BGE_REGISTERED, {});
}

void JobChannel::Refuse(std::string_view why) {
  if (state_ == State::kDown) return;
  Send(0, BGE_REFUSED, why);
  Close(why);
}

void JobChannel::Send(uint32_t job, uint8_t kind, std::string_view payload) {
  v2::AppendFrame(stream_.Buffer(), job, kind, payload);
  stream_.Commit();
}

void JobChannel::OnBytes(std::string_view bytes) {
  if (state_ == State::kPreamble) {
    head_.append(bytes);
    if (head_.size() < BGE_PREAMBLE_BYTES || !OnPreamble()) return;
    reader_.Feed(std::string_view(head_).substr(BGE_PREAMBLE_BYTES));
    head_.clear();
    head_.shrink_to_fit();
  } else {
    reader_.Feed(bytes);
  }
  if (!later_) TakeFrames(true);
}

void JobChannel::OnTurn() {
  later_ = false;
  WriteBatch& batch = batch_;
  batch.Enter();
  const auto alive = alive_;
  TakeFrames(true);
  if (*alive && !later_ && state_ != State::kDown) stream_.PauseReading(false);
  batch.Leave();
}

void JobChannel::End(std::string_view why) {
  const auto alive = alive_;
  TakeFrames(false);
  if (*alive) Close(why);
}

void JobChannel::TakeFrames(bool in_turn) {
  const auto alive = alive_;
  while (*alive && state_ != State::kDown) {
    auto frame = reader_.Next();
    if (!frame) {
      Close(frame.error().message);
      return;
    }
    if (!*frame) return;
    ++frames_;
    stream_.Owe((*frame)->header.kind == BGE_EXIT ? kExitCost : 1 + static_cast<int>((*frame)->payload.size() / kBytesPerFrameCost));
    OnFrame(**frame);
    if (!in_turn || !*alive || party_ == nullptr || state_ == State::kDown || party_->Take(0)) continue;
    later_ = true;
    stream_.PauseReading(true);
    party_->Wait(this);
    return;
  }
}

bool JobChannel::OnPreamble() {
  const auto preamble = v2::DecodePreamble(std::string_view(head_).substr(0, BGE_PREAMBLE_BYTES));
  if (!preamble || preamble->role != BGE_ROLE_CONTROL) {
    Close("protocol: want protocol v2 in the role of a PID 1");
    return false;
  }
  const v2::Preamble answer = v2::AnswerTo(*preamble);
  stream_.Write(v2::EncodePreamble(answer));
  if (answer.max == 0) {
    Close("protocol: no version in common");
    return false;
  }
  state_ = State::kHello;
  return true;
}

void JobChannel::OnHelloFrame(std::string_view payload) {
  const auto fields = v2::DecodeFields(payload);
  if (!fields) {
    Refuse(fields.error().message);
    return;
  }
  JobChannelOwner::Hello hello;
  for (const auto& field : *fields) {
    if (field.tag == BGE_TAG_KEY) hello.key = field.value;
    if (field.tag == BGE_TAG_INSTANCE) hello.instance = field.value.substr(0, 256);
    if (field.tag == BGE_TAG_VERSION) hello.version = field.value.substr(0, 64);
  }
  if (hello.key.size() != 32) {
    Refuse("protocol: want a key of 32 bytes");
    return;
  }
  owner_->OnHello(hello);
}

void JobChannel::OnFrame(const v2::FrameReader::Frame& frame) {
  const uint8_t kind = frame.header.kind;
  if (state_ == State::kHello) {
    if (kind == BGE_HELLO) {
      OnHelloFrame(frame.payload);
    } else {
      Refuse("protocol: want HELLO first");
    }
    return;
  }
  if (kind == BGE_PING) {
    Send(frame.header.call, BGE_PONG, frame.payload.substr(0, 8));
    return;
  }
  if (kind == BGE_PROBED) {
    owner_->OnProbed(frame.payload);
    return;
  }
  const auto it = jobs_.find(frame.header.call);
  if (it == jobs_.end()) return;
  switch (kind) {
    case BGE_STDOUT: OnOutput(it->first, it->second, 1, frame.payload); break;
    case BGE_STDERR: OnOutput(it->first, it->second, 2, frame.payload); break;
    case BGE_WINDOW:
      if (const auto credit = v2::DecodeWindow(frame.payload); credit && frame.header.stream == 0 && !it->second.abandoned) {
        uint32_t added = 0;
        AddCredit(it->second.stdin_credit, *credit, added);
        if (added > 0) it->second.sink->OnStdinCredit(added);
      }
      break;
    case BGE_EXIT: OnExit(it->first, frame.payload); break;
    default: break;  // STARTED, and what a later version adds
  }
}

void JobChannel::OnOutput(uint32_t number, Job& job, uint8_t stream, std::string_view bytes) {
  if (job.abandoned || bytes.empty()) return;
  uint32_t& credit = job.output_credit[stream - 1];
  if (bytes.size() > credit) {
    JobSink* sink = job.sink;
    Abandon(number, nullptr);
    sink->OnExit({BGE_HOW_LOST, 125, "protocol: more output than was asked for"});
    return;
  }
  credit -= static_cast<uint32_t>(bytes.size());
  job.sink->OnOutput(stream, bytes);
}

void JobChannel::OnExit(uint32_t number, std::string_view payload) {
  auto exit = v2::DecodeExit(payload);
  if (!exit) exit = v2::Exit{BGE_HOW_LOST, 125, exit.error().message};
  // Denials are the gateway's to say; codes are what a shell can see.
  if (exit->how > BGE_HOW_LOST) exit->how = BGE_HOW_FAILED;
  exit->code = std::clamp(exit->code, 0, 255);
  if (exit->text.size() > kMaxText) exit->text.resize(kMaxText);
  JobSink* sink = jobs_[number].sink;
  jobs_.erase(number);
  if (sink != nullptr) sink->OnExit(*exit);
}

uint32_t JobChannel::Start(std::string_view fields, JobSink* sink) {
  if (state_ != State::kUp) return 0;
  while (next_ == 0 || jobs_.contains(next_)) ++next_;
  const uint32_t number = next_++;
  jobs_[number].sink = sink;
  Send(number, BGE_JOB, fields);
  return number;
}

bool JobChannel::Stdin(uint32_t job, std::string_view bytes) {
  const auto it = jobs_.find(job);
  if (it == jobs_.end() || bytes.empty()) return true;
  if (bytes.size() > it->second.stdin_credit) return false;
  it->second.stdin_credit -= static_cast<uint32_t>(bytes.size());
  for (; !bytes.empty(); bytes.remove_prefix(std::min<size_t>(bytes.size(), BGE_CHUNK))) {
    Send(job, BGE_STDIN, bytes.substr(0, BGE_CHUNK));
  }
  return true;
}

void JobChannel::StdinEof(uint32_t job) {
  if (jobs_.contains(job)) Send(job, BGE_STDIN, {});
}

void JobChannel::Signal(uint32_t job, int number) {
  if (number < 1 || number > 64 || !jobs_.contains(job)) return;
  const char byte = static_cast<char>(number);
  Send(job, BGE_SIGNAL, {&byte, 1});
}

void JobChannel::Resize(uint32_t job, v2::TerminalSize size) {
  if (jobs_.contains(job)) Send(job, BGE_RESIZE, v2::EncodeSize(size));
}

void JobChannel::Credit(uint32_t job, uint8_t stream, uint32_t bytes) {
  const auto it = jobs_.find(job);
  if (it == jobs_.end() || (stream != 1 && stream != 2) || it->second.abandoned) return;
  uint32_t added = 0;
  AddCredit(it->second.output_credit[stream - 1], bytes, added);
  if (added == 0) return;
  v2::AppendWindow(stream_.Buffer(), job, stream, added);
  stream_.Commit();
}

void JobChannel::Abandon(uint32_t job, JobSink* sink) {
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return;
  it->second.abandoned = true;
  it->second.sink = sink;
  Signal(job, 9);
}

void JobChannel::KillAll() { Send(0, BGE_KILL_ALL, {}); }
void JobChannel::Ping() { Send(0, BGE_PING, "beige-go"); }
void JobChannel::Probe(std::string_view nonce) { Send(0, BGE_PROBE, nonce); }

}  // namespace beige
