#ifndef BEIGE_GATEWAY_METRICS_PROCESS_STATS_H_
#define BEIGE_GATEWAY_METRICS_PROCESS_STATS_H_

namespace beige {

// What Prometheus calls the process metrics, of the running process. Zero where /proc does not tell.
struct ProcessStats {
  double cpu_seconds = 0;         // user and system
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double open_fds = 0;
  double max_fds = 0;
  double start_time_seconds = 0;  // since the epoch
};
ProcessStats ReadProcessStats();

}  // namespace beige

#endif
