#include "gateway/http/session_stream.h"

#include "gateway/http/reply.h"

namespace beige {

void AppendSse(std::string& out, const sessions::Event& event) {
  out.reserve(out.size() + event.id.size() + event.name.size() + event.data.size() + 24);
  if (!event.id.empty()) out.append("id: ").append(event.id).append("\n");
  out.append("event: ").append(event.name).append("\ndata: ").append(event.data).append("\n\n");
}

std::string Sse(std::string_view name, std::string_view data) {
  std::string out = "event: ";
  return out.append(name).append("\ndata: ").append(data).append("\n\n");
}

http::Response SessionError(const Error& error) {
  const size_t colon = error.message.find(':');
  const std::string_view field = std::string_view(error.message).substr(0, colon);
  const bool named = error.code == Code::kInvalid && colon != std::string::npos && field.find(' ') == std::string_view::npos;
  return JsonError(error, named ? field : std::string_view());
}

void SessionStream::Watch(const std::string& session, const std::string& after) {
  auto self = shared_from_this();
  sessions_.Watch(agent_, session, after, this, [this, self](Result<sessions::WatchId> watch) {
    if (!watch) {
      if (!over_) NotWatched(watch.error());
    } else if (over_) {
      sessions_.Unwatch(*watch);
    } else {
      watch_ = *watch;
      Watched();
    }
  });
}

void SessionStream::Begin() {
  if (begun_ || over_) return;
  begun_ = head_waits_ = true;
  last_write_ = std::chrono::steady_clock::now();
  FlushSoon();
}

bool SessionStream::Send(std::string bytes) {
  if (over_) return true;
  last_write_ = std::chrono::steady_clock::now();
  if (responder_->unsent() + waiting_.size() > kUnread) return false;
  if (waiting_.empty()) {
    waiting_ = std::move(bytes);
  } else {
    waiting_ += bytes;
  }
  FlushSoon();
  return true;
}

void SessionStream::FlushSoon() {
  if (!std::exchange(flush_due_, true)) on_waiting_();
}

void SessionStream::Flush() {
  flush_due_ = false;
  if (over_) return;
  if (std::exchange(head_waits_, false)) {
    http::Response head;
    head.content_type = "text/event-stream";
    head.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};  // the latter: a proxy in front must not collect
    responder_->Begin(std::move(head), std::exchange(waiting_, {}));
  } else {
    (void)responder_->Write(std::exchange(waiting_, {}));  // false: the client has gone, and Left() is on its way
  }
}

void SessionStream::Quiet(SteadyTime now, std::chrono::nanoseconds longest) {
  if (begun_ && !over_ && now - last_write_ >= longest) (void)Send(":\n\n");
}

void SessionStream::End(const std::string& last_bytes) {
  if (over_) return;
  if (head_waits_) Flush();
  responder_->End(std::exchange(waiting_, {}).append(last_bytes));
  Close();
}

void SessionStream::Reply(http::Response response) {
  if (over_) return;
  responder_->Reply(std::move(response));
  Close();
}

void SessionStream::Close() {
  if (over_) return;
  over_ = true;
  if (watch_) sessions_.Unwatch(*watch_);
  watch_.reset();
  responder_.reset();
  if (const auto fn = std::move(on_over_)) fn();
}

}  // namespace beige
