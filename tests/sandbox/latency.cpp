// Times of the in-sandbox program, one JSON line each. Usage: sandbox_latency BEIGE_SANDBOX ATTACKER [ROUNDS]
//   job:       JOB frame sent to EXIT frame read, a static program that does nothing, in a cell; plain calls and back to back
//   launcher:  a whole launcher command inside a sandbox, against a gateway that answers at once; beside it the bare spawn of a static
//              program, which nothing can beat
//   bytes:     output of one job through PID 1
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "cage.h"

namespace beige::sandbox_test {
namespace {

using Clock = std::chrono::steady_clock;

double Us(Clock::duration duration) { return std::chrono::duration<double, std::micro>(duration).count(); }

// p10 is what a busy machine does not spoil.
void Print(const char* name, double p10, double p50, double p95, int rounds) {
  std::printf("{\"name\":\"%s\",\"unit\":\"us\",\"p10\":%.1f,\"p50\":%.1f,\"p95\":%.1f,\"n\":%d}\n", name, p10, p50, p95, rounds);
}

void Print(const char* name, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  Print(name, values[values.size() / 10], values[values.size() / 2], values[values.size() * 95 / 100], static_cast<int>(values.size()));
}

void TimeJobs(int rounds, std::chrono::microseconds pause, const char* name) {
  CageOptions options;
  options.runner = true;
  Cage cage(options);
  JobSpec spec;
  spec.argv = {"/t/attacker", "noop"};
  std::vector<double> values;
  for (int i = 0; i < rounds; ++i) {
    const auto begin = Clock::now();
    const Outcome outcome = cage.Run(spec);
    values.push_back(Us(Clock::now() - begin));
    if (!outcome.ended || outcome.code != 0) std::abort();
    std::this_thread::sleep_for(pause);
  }
  Print(name, values);
}

void TimeInside(Cage& cage, const char* name, int rounds, const std::string& command) {
  const Outcome outcome = cage.RunShell("/t/attacker time " + std::to_string(rounds) + " " + command + " </dev/null");
  double p10 = 0, p50 = 0, p95 = 0;
  if (std::sscanf(outcome.out.c_str(), "%lf %lf %lf", &p10, &p50, &p95) != 3) std::abort();
  Print(name, p10, p50, p95, rounds);
}

void TimeLauncher(int rounds) {
  Cage cage;
  TimeInside(cage, "spawn_static_noop", rounds, "/t/attacker noop");
  std::thread gateway([&] {
    const std::string answer = Preamble(BGE_ROLE_CALLER) + U32(5) + U32(1) + std::string("\x09\0\0\0", 4) + std::string(5, '\0');
    for (int i = 0; i < rounds; ++i) {
      auto stream = cage.gateway().Accept();
      if (!stream) std::abort();
      stream->ReadBytes(BGE_PREAMBLE_BYTES);
      stream->Next();
      stream->SendBytes(answer);
    }
  });
  TimeInside(cage, "launcher_command", rounds, "/tools/bin/kv get a");
  gateway.join();
}

void TimeBytes() {
  Cage cage;
  JobSpec spec;
  spec.argv = {"head", "-c", "400000000", "/dev/zero"};
  const auto begin = Clock::now();
  const Outcome outcome = cage.Run(spec);
  std::printf("{\"name\":\"job_output\",\"unit\":\"MB/s\",\"value\":%.0f}\n", static_cast<double>(outcome.out.size()) / Us(Clock::now() - begin));
}

}  // namespace
}  // namespace beige::sandbox_test

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s BEIGE_SANDBOX ATTACKER [ROUNDS]\n", argv[0]);
    return 2;
  }
  beige::sandbox_test::ThePrograms() = {argv[1], argv[2]};
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 3000;
  beige::sandbox_test::TimeJobs(rounds, std::chrono::microseconds(0), "job_back_to_back");
  beige::sandbox_test::TimeJobs(rounds, std::chrono::microseconds(1000), "job_with_1ms_pauses");
  beige::sandbox_test::TimeLauncher(rounds);
  beige::sandbox_test::TimeBytes();
  return 0;
}
