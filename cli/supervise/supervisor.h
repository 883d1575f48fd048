#ifndef BEIGE_CLI_SUPERVISE_SUPERVISOR_H_
#define BEIGE_CLI_SUPERVISE_SUPERVISOR_H_

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "base/user_namespace.h"
#include "cli/supervise/restart_backoff.h"

namespace beige::cli {

// How to start one process.
struct Launch {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // complete
  // argv[0] is bubblewrap with `--info-fd 3`: the process that serves is its child, whose pid it writes there.
  bool through_bubblewrap = false;
  // Not empty: argv says `--userns-block-fd 4` as well, and the supervisor maps these.
  std::vector<IdMap> ids{};
};

struct Service {
  std::string name;                         // also the process's name
  std::string log;                          // gets its stdout and stderr; moved to <log>.1 at a start when over 16 MiB
  std::function<Result<Launch>()> prepare;  // called before each start
};

struct ServiceState {
  pid_t pid = 0;         // of the process that serves; 0 = not running (or not known yet)
  bool running = false;
  int starts = 0;
  std::string last_end;  // "exited with 2", "killed by signal 9"; "" = never ended
  bool operator==(const ServiceState&) const = default;
};

// Keeps a list of processes running. One thread, no signals of its own: the caller's loop calls RunOnce. Children end with the thread that
// started them (the launches see to that), so the supervisor stays on the main thread.
class Supervisor {
 public:
  // Time for restarts is `clock`'s; waiting for processes is real.
  Supervisor(std::vector<Service> services, const Clock& clock);
  ~Supervisor();  // SIGKILL to what still runs
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Starts what is due (and returns at once when something was), else waits at most `max_wait` for an end, for a start that falls due or for one of `wake_fds` to be readable.
  void RunOnce(std::chrono::milliseconds max_wait, std::initializer_list<int> wake_fds = {});

  // SIGTERM to one, which is then started again as after any end.
  void Restart(size_t index);

  // SIGTERM in reverse order, each after the one before it has ended; SIGKILL after `grace`. Nothing is started any more.
  void Stop(std::chrono::milliseconds grace);

  const ServiceState& state(size_t index) const;

 private:
  struct Child;
  bool StartDue();  // true when it tried to start one
  void Start(Child& child);
  void ReadInfo(Child& child);
  void Reap(Child& child);
  void Signal(Child& child, int signal);

  const Clock& clock_;
  std::vector<std::unique_ptr<Child>> children_;
};

}  // namespace beige::cli

#endif
