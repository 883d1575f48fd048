#ifndef BEIGE_GATEWAY_LINK_CONNECTION_H_
#define BEIGE_GATEWAY_LINK_CONNECTION_H_

#include <memory>
#include <string>
#include <string_view>

#include "base/loop.h"
#include "base/socket_stream.h"

namespace beige {

class Link;

// What a connection turned out to speak.
class Session {
 public:
  virtual ~Session() = default;
  virtual void OnBytes(std::string_view bytes) = 0;
  virtual void OnEof() = 0;
  virtual void OnDrained() {}
  virtual void OnTurn() {}  // after Connection::Take said that it has to wait
  virtual void Shut() = 0;  // the connection goes: cancel calls, release what is held; nothing is called after
};

// One accepted connection: finds out by the first bytes which protocol it speaks and leaves the rest to a session.
class Connection final : public SocketStreamOwner, public TurnTaker {
 public:
  Connection(Link& link, UniqueFd fd);
  ~Connection() override;

  SocketStream& stream() { return stream_; }
  Link& link() { return link_; }
  void Close();          // now; what is queued goes out as far as the peer takes it
  void CloseWhenSent();  // later
  void Shut();           // called by the link only

  // Takes a call, or `cost` of a smaller thing, from the agent's share. False: wait for Session::OnTurn, which has taken one already.
  bool Take(int cost);
  static constexpr int kCallCost = 16;  // of Turns::kShare

  bool admitted() const { return admitted_; }
  void set_admitted() { admitted_ = true; }
  // Over the limit: a connection that says nothing is not kept waiting for long.
  void StartPatience();

 private:
  void OnBytes(std::string_view bytes) override;
  void OnEof() override;
  void OnClosed() override;
  void OnDrained() override;
  void OnTurn() override;
  void Sniff();
  void Refuse(std::string_view text);  // in v2
  void Become(std::unique_ptr<Session> session, size_t skip);

  Link& link_;
  SocketStream stream_;
  std::string head_;  // until the session is known
  std::unique_ptr<Session> session_;
  std::unique_ptr<Timer> patience_;
  bool admitted_ = false;
  bool shut_ = false;
  bool waits_ = false;
};

}  // namespace beige

#endif
