#ifndef BEIGE_GATEWAY_CONTROL_CONTROL_POINT_H_
#define BEIGE_GATEWAY_CONTROL_CONTROL_POINT_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/loop.h"
#include "base/socket_stream.h"
#include "gateway/control/job_channel.h"
#include "gateway/control/registration.h"

namespace beige {

// What an agent's control point tells. On the core thread; none may destroy the control point.
class ControlEvents {
 public:
  virtual ~ControlEvents() = default;
  virtual void OnRegistered(const std::string& instance, const std::string& version) = 0;
  virtual void OnLost() = 0;
  virtual void OnRoundTrip(bool ok, int64_t micros, const std::string& message) = 0;
  virtual void OnStrangers(int64_t count, const std::string& last_reason) = 0;  // at most once a second
  // The agent's link shall expect this nonce; `seen` runs when it arrives there.
  virtual void ExpectProbe(const std::string& nonce, std::function<void()> seen) = 0;
};

struct ControlOptions {
  std::function<Result<>(int fd)> check_peer;     // empty = CheckPeerIsInit
  std::chrono::milliseconds hello_within{5000};
  std::chrono::milliseconds probe_every{30000};
  std::chrono::milliseconds probe_within{10000};
  Party* party = nullptr;                         // whose share reads are taken from
  std::chrono::milliseconds silence{75000};       // without a frame, pings included: the channel is closed
};

// control.sock of one agent: admits the sandbox's PID 1 and nobody else, keeps the channel to it alive and makes round trips.
// Everything in the sandbox can connect here; strangers are refused, counted and told. Core thread only.
class ControlPoint {
 public:
  static Result<std::unique_ptr<ControlPoint>> Open(Loop& loop, WriteBatch& batch, const Clock& clock, const std::string& socket_path,
                                                    const std::string& key_file, ControlEvents* events, ControlOptions options = {});
  ~ControlPoint();
  ControlPoint(const ControlPoint&) = delete;
  ControlPoint& operator=(const ControlPoint&) = delete;

  // One start is about to happen and the old container is gone: whoever holds the channel loses it.
  Result<> Announce(const std::string& instance);
  JobChannel* channel() const;  // nullptr while PID 1 is not there
  const std::string& instance() const { return instance_; }
  const std::string& version() const { return version_; }
  void Probe();

 private:
  class Peer;
  ControlPoint(Loop& loop, WriteBatch& batch, const Clock& clock, UniqueFd listener, Registration registration, ControlEvents* events,
               ControlOptions options);
  void Accept();
  void OnHello(Peer* peer, const JobChannelOwner::Hello& hello);
  void OnDown(Peer* peer, std::string_view why);
  void OnProbed(Peer* peer, std::string_view nonce);
  void Stranger(const std::string& why);
  void FinishProbe(bool ok, const std::string& message);
  void Tick();
  void DropLater(std::unique_ptr<Peer> peer);

  Loop& loop_;
  WriteBatch& batch_;
  const Clock& clock_;
  UniqueFd listener_;
  Registration registration_;
  ControlEvents* events_;
  const ControlOptions options_;
  FdWatch watch_;
  Timer accept_retry_;
  Timer tick_;
  Timer probe_timeout_;
  std::unique_ptr<Peer> holder_;
  std::vector<std::unique_ptr<Peer>> callers_;  // not registered yet
  std::vector<std::unique_ptr<Peer>> dead_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::string instance_;
  std::string version_;
  std::string nonce_;  // of the probe in flight
  bool probe_seen_ = false;
  SteadyTime probe_sent_{};
  uint64_t frames_at_tick_ = 0;
  int silent_ticks_ = 0;
  int64_t strangers_ = 0;
  SteadyTime strangers_told_{};
};

}  // namespace beige

#endif
