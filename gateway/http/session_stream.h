#ifndef BEIGE_GATEWAY_HTTP_SESSION_STREAM_H_
#define BEIGE_GATEWAY_HTTP_SESSION_STREAM_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "gateway/sessions/sessions.h"
#include "http/http_server.h"

namespace beige {

// One HTTP client that follows one session: what its three kinds (follow_stream.h, prompt_stream.h, prompt_reply.h) have in common.
// Core thread only; belongs to SessionStreams, and callbacks of Sessions hold it for as long as they are due.
class SessionStream : public sessions::Watcher, public std::enable_shared_from_this<SessionStream> {
 public:
  // A client that reads more slowly than this much of its stream waits for it is let go: what it keeps waiting is memory of the gateway.
  static constexpr size_t kUnread = 1u << 20;

  SessionStream(sessions::Sessions& sessions, AgentRef agent, std::shared_ptr<http::Responder> responder)
      : sessions_(sessions), agent_(std::move(agent)), responder_(std::move(responder)) {}

  virtual void Left() { Close(); }      // the client has gone
  virtual void Stop() = 0;              // the gateway stops: answers and closes
  void Quiet(SteadyTime now, std::chrono::nanoseconds longest);  // writes a comment when nothing was written for so long
  void OnOver(std::function<void()> fn) { on_over_ = std::move(fn); }  // once; it may be destroyed, but not from within
  // What is sent within one turn of the loop goes out in one piece: `fn` has Flush called on the next one.
  void OnWaiting(std::function<void()> fn) { on_waiting_ = std::move(fn); }
  void Flush();

 protected:
  void Watch(const std::string& session, const std::string& after);
  virtual void Watched() {}
  virtual void NotWatched(const Error& why) = 0;

  bool over() const { return over_; }
  bool begun() const { return begun_; }
  void Begin();                       // the head of a stream
  bool Send(std::string bytes);       // false: the client is too slow
  void End(const std::string& last_bytes);   // and closes
  void Reply(http::Response response);  // and closes
  void Close();
  sessions::Sessions& sessions() { return sessions_; }
  const AgentRef& agent() const { return agent_; }

 private:
  sessions::Sessions& sessions_;
  const AgentRef agent_;
  std::shared_ptr<http::Responder> responder_;
  std::optional<sessions::WatchId> watch_;
  void FlushSoon();
  std::function<void()> on_over_;
  std::function<void()> on_waiting_;
  std::string waiting_;       // to be sent
  bool head_waits_ = false;   // so is the head
  bool flush_due_ = false;
  SteadyTime last_write_{};
  bool begun_ = false;
  bool over_ = false;
};

// "id: 3-7\nevent: text\ndata: {...}\n\n"
void AppendSse(std::string& out, const sessions::Event& event);
std::string Sse(std::string_view name, std::string_view data);  // without an id

// An error of Sessions; the field that an Invalid one names stands before the first colon of its message.
http::Response SessionError(const Error& error);

}  // namespace beige

#endif
