#ifndef BEIGE_GATEWAY_TOOLS_CELL_H_
#define BEIGE_GATEWAY_TOOLS_CELL_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/agent_ref.h"
#include "api/config.h"
#include "base/loop.h"
#include "base/socket_stream.h"
#include "gateway/control/job_channel.h"
#include "gateway/tools/reaper.h"

namespace beige {

// What all cells of a gateway share.
struct CellHost {
  Loop& loop;
  WriteBatch& batch;
  Reaper& reaper;
  std::string bwrap;                             // path; "" = not installed
  std::function<std::string()> sandbox_binary;   // path of beige-sandbox now; "" = there is none
  Confinement least = Confinement::kNamespaces;  // of the configuration; who changes it makes the cells anew
};

// Hears when a cell came up or gave up for now. It may be destroyed within the call.
class CellWaiter {
 public:
  virtual ~CellWaiter() = default;
  virtual void OnCell() = 0;
};

// The cage in which one agent's use of one tool runs: a bubblewrap process with our runner as its process 1. Made at once, made again
// when it dies (its calls end as lost), after a pause that doubles while it can't be made. Core thread only.
class Cell final : public JobChannelOwner {
 public:
  enum class State { kStarting, kUp, kFailed };

  // `data_dir` and `workspace` are host paths; the workspace is shown as far as the manifest says. What comes from the cell is read in the
  // turns of `party`, the agent's.
  Cell(const CellHost& host, Party& party, AgentRef agent, std::shared_ptr<const ToolManifest> manifest, std::string data_dir, std::string workspace,
       std::function<void()> on_change);
  ~Cell() override;
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  State state() const { return state_; }
  const std::string& reason() const { return reason_; }  // of kFailed
  const std::shared_ptr<const ToolManifest>& manifest() const { return manifest_; }
  JobChannel* channel() const { return channel_ && channel_->up() ? channel_.get() : nullptr; }  // nullptr = not now
  size_t jobs() const { return channel_ ? channel_->jobs() : 0; }

  void Retire() { retired_ = true; }  // no new jobs will come; it is not made again
  void Await(CellWaiter* waiter) { waiters_.push_back(waiter); }
  void Forget(CellWaiter* waiter) { std::erase(waiters_, waiter); }

  // The fields of a JOB frame for one call. `session` and `directory` are the caller's claims; `timeout` 0 = the manifest's.
  std::string JobFields(const std::vector<std::string>& args, std::string_view call_id, std::string_view session,
                        std::string_view directory, std::chrono::milliseconds timeout, bool stdin_open) const;

 private:
  void OnHello(const Hello& hello) override;
  void OnProbed(std::string_view) override {}
  void OnDown(std::string_view why) override;
  void Make();
  Result<> TryMake();
  Result<> ChooseIds();
  void MapIds();
  void Exited(int status);
  void Failed(std::string reason);
  void ReadErrors();
  void Become(State state);
  void LetGo();

  const CellHost& host_;
  Party& party_;
  const AgentRef agent_;
  const std::shared_ptr<const ToolManifest> manifest_;
  const std::string data_dir_;
  const std::string workspace_;
  const std::function<void()> on_change_;
  std::string job_head_;  // fields that every job has
  State state_ = State::kStarting;
  bool retired_ = false;
  int workspace_looks_ = 0;  // in vain
  std::string reason_;
  std::unique_ptr<JobChannel> channel_;
  pid_t pid_ = 0;
  uint32_t uid_ = 0;  // of the tool's processes
  uint32_t gid_ = 0;
  UniqueFd info_fd_;  // while the cell waits for its ids
  UniqueFd release_fd_;
  std::string info_;
  std::unique_ptr<FdWatch> info_watch_;
  UniqueFd errors_fd_;
  std::unique_ptr<FdWatch> errors_watch_;
  std::string errors_;  // what bubblewrap and the runner said, the first 2 KiB
  Timer timer_;         // patience with a start, or the pause before the next
  Timer settled_;
  std::chrono::milliseconds pause_{0};
  std::vector<CellWaiter*> waiters_;
};

}  // namespace beige

#endif
