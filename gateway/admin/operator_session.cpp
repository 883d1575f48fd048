#include "gateway/admin/operator_session.h"

#include <set>

#include "base/log.h"
#include "gateway/roster/roster.h"

namespace beige {
namespace {
// An operator that does not read is cut off rather than remembered for.
constexpr size_t kMaxUnsent = 64u << 20;
}  // namespace

OperatorSession::OperatorSession(Loop& loop, WriteBatch& batch, UniqueFd fd, Roster& roster, std::function<void()> on_hello,
                                 std::function<void(const std::string&)> on_end)
    : roster_(roster), on_hello_(std::move(on_hello)), on_end_(std::move(on_end)), stream_(loop, batch, std::move(fd), this) {
  Send(admin::Hello{.min = admin::kVersion, .max = admin::kVersion, .features = {}, .version = BEIGE_VERSION});
}

void OperatorSession::Send(const admin::ToOperator& message) {
  if (ended_) return;
  stream_.Write(admin::Encode(message) + "\n");
  if (stream_.unsent() > kMaxUnsent) End("the operator does not read");
}

void OperatorSession::End(const std::string& why) {
  if (ended_) return;
  ended_ = true;
  stream_.PauseReading(true);
  stream_.Flush();
  on_end_(why);
}

void OperatorSession::OnBytes(std::string_view bytes) {
  size_t seen = in_.size();  // without a newline
  in_.append(bytes);
  size_t start = 0;
  for (size_t end; !ended_ && (end = in_.find('\n', seen)) != std::string::npos; start = seen = end + 1) {
    OnLine(std::string_view(in_).substr(start, end - start));
  }
  if (ended_) return;
  in_.erase(0, start);
  if (in_.size() > admin::kMaxLine) End("a line longer than the limit of " + std::to_string(admin::kMaxLine) + " bytes");
}

void OperatorSession::OnLine(std::string_view line) {
  if (line.size() > admin::kMaxLine) return End("a line longer than the limit of " + std::to_string(admin::kMaxLine) + " bytes");
  const auto message = admin::DecodeToGateway(line);
  if (!message) {
    if (message.error().code == Code::kNotFound) return;  // of a newer operator
    return End("malformed message: " + message.error().message);
  }
  if (!hello_done_ && !std::holds_alternative<admin::Hello>(*message)) return End("no hello came first");
  std::visit([this](const auto& m) { Take(m); }, *message);
}

void OperatorSession::Take(const admin::Hello& hello) {
  if (hello_done_) return End("a second hello");
  if (hello.max < admin::kVersion || hello.min > admin::kVersion) {
    return End("operator " + hello.version + " speaks admin protocol " + std::to_string(hello.min) + "-" + std::to_string(hello.max) +
               ", this gateway speaks " + std::to_string(admin::kVersion) + "; upgrade the older one");
  }
  hello_done_ = true;
  on_hello_();
}

void OperatorSession::Take(const admin::Sync& sync) {
  std::set<std::string> named;
  for (const auto& grant : sync.grants) named.insert(grant.agent.uid);
  // First what is gone: a new incarnation may bear the name of an old one.
  for (const std::string& uid : roster_.Uids()) {
    if (!named.contains(uid)) RemoveUid(uid);
  }
  for (const auto& grant : sync.grants) PutGrant(grant);
  Send(admin::Synced{static_cast<int64_t>(sync.grants.size())});
  for (const AgentView& view : roster_.List()) {
    if (view.connected) Send(admin::Registered{view.grant.agent.uid, view.instance, ""});
  }
}

void OperatorSession::Take(const admin::Put& put) { PutGrant(put.grant); }
void OperatorSession::Take(const admin::Remove& remove) { RemoveUid(remove.uid); }

void OperatorSession::Take(const admin::Announce& announce) {
  const auto done = roster_.Announce(announce.uid, announce.instance);
  if (!done) LogWarn("announced start not accepted", {{"uid", announce.uid}, {"error", done.error().message}});
  Send(admin::Announced{announce.uid, announce.instance, done ? "" : done.error().message});
}

void OperatorSession::Take(const admin::Probe& probe) {
  // The operator waits for a result: a probe that can't even begin has failed.
  if (auto done = roster_.Probe(probe.uid); !done) Send(admin::RoundTrip{probe.uid, false, 0, done.error().message});
}

void OperatorSession::PutGrant(const admin::Grant& grant) {
  const auto in_force = roster_.Put(grant);
  if (in_force) return Send(*in_force);
  LogWarn("grant rejected", {{"agent", grant.agent.ToString()}, {"error", in_force.error().message}});
  Send(admin::Rejected{grant.agent.uid, grant.generation, in_force.error().message});
}

void OperatorSession::RemoveUid(const std::string& uid) {
  if (auto removed = roster_.Remove(uid); !removed) {
    // Not confirmed: the operator asks again.
    LogError("grant not removed", {{"uid", uid}, {"error", removed.error().message}});
    return;
  }
  Send(admin::Removed{uid});
}

}  // namespace beige
