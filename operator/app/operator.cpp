#include "operator/app/operator.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include "api/default_image.h"
#include "api/load.h"
#include "base/files.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/random.h"
#include "http/http_server.h"
#include "operator/app/adopt.h"
#include "operator/app/config_watch.h"
#include "operator/app/home_lock.h"
#include "operator/app/info_writer.h"
#include "operator/app/intake.h"
#include "operator/app/metrics.h"
#include "operator/app/workers.h"
#include "operator/reconcile/publish.h"
#include "operator/source/file_source.h"
#include "operator/store/operator_info.h"
#include "operator/store/trash.h"
#include "runtime/docker/docker_runtime.h"
#include "runtime/engine/discovery.h"

namespace beige {
using std::chrono::seconds;

namespace {
constexpr seconds kStopWithin{3};

std::string EngineSocket(const OperatorConfig& config) {
  auto found = runtime::engine::FindEngineSocket(config.engine_socket);
  if (found) return *found;
  LogWarn(found.error().message);
  return config.engine_socket.empty() ? "/var/run/docker.sock" : config.engine_socket;  // it may come later
}

Result<> DeleteSandboxes(runtime::SandboxRuntime& runtime, const HomeId& home) {
  if (home.copied) return Fail(Code::kDenied, home.why);
  BEIGE_ASSIGN(const std::vector<runtime::Observed> all, runtime.List(home.id));
  for (const runtime::Observed& sandbox : all) {
    BEIGE_TRY(runtime.Remove(sandbox.id));
    std::printf("removed %s\n", sandbox.name.c_str());  // for the person who typed `beige down --delete-sandboxes`
  }
  return runtime.Prune(home.id);
}

http::Handler MakeHttpHandler(Metrics& metrics, WorkQueue& queue, const DesiredState& desired) {
  return [&](http::Request request, std::shared_ptr<http::Responder> responder) {
    http::Response response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    if (request.method != "GET" && request.method != "HEAD") {
      response.status = 405;
    } else if (request.path == "/metrics") {
      response.body = metrics.Expose(queue.depth(), queue.retries());
    } else if (request.path == "/healthz") {
      response.body = "ok\n";
    } else if (request.path == "/readyz") {
      const bool ready = desired.Copy() != nullptr;
      response.status = ready ? 200 : 503;
      response.body = ready ? "ok\n" : "the agents were not read yet\n";
    } else {
      response.status = 404;
    }
    responder->Reply(std::move(response));
  };
}
}  // namespace

Result<> RunOperator(const OperatorOptions& options) {
  const HomePaths paths(options.home);
  if (!Exists(paths.home())) return Fail(Code::kNotFound, "home " + paths.home() + " does not exist; make one with `beige init`");
  if (options.adopt) return AdoptHome(paths);
  BEIGE_ASSIGN(const UniqueFd lock, LockHome(paths));
  const Loaded<OperatorConfig> loaded = ConfigWatch::Read(paths);
  if (!loaded.value) return Fail(Code::kInvalid, Join(loaded.problems, "\nbeige: beige-operator: "));
  ConfigState config(std::make_shared<const OperatorConfig>(*loaded.value));
  BEIGE_ASSIGN(const MachineFacts machine, ReadMachineFacts(paths));
  BEIGE_ASSIGN(const HomeId home, LoadHomeId(paths, machine, false));
  if (home.copied) LogWarn(home.why);

  // The engine.
  const RealClock clock;
  Metrics metrics;
  const std::string socket = EngineSocket(*loaded.value);
  const auto runtime = runtime::docker::MakeDockerRuntime(
      {.socket = socket,
       .observer = [&](auto operation, auto code, double took) { metrics.EngineRequest("docker", operation, code, took); }});
  if (options.delete_sandboxes) return DeleteSandboxes(*runtime, home);

  // What is on disk.
  BEIGE_TRY(MakeDirs(paths.AgentsDir(), 0700));
  BEIGE_ASSIGN(const std::string bin_dir, PublishSandboxBinary(paths, BEIGE_VERSION, ExecutableDir() + "/beige-sandbox"));
  IdentityStore identities(paths, clock);
  BEIGE_TRY(identities.Load());
  StatusStore status(paths);
  EventLog events(paths, clock);
  InfoWriter info_writer(paths);

  // What is wanted, and who looks after it.
  DesiredState desired;
  WorkQueue queue(clock, {.seed = static_cast<uint32_t>(::getpid())});
  SandboxIndex index;
  Loop loop;
  Images images(*runtime, clock, {.default_image = DefaultImage(*loaded.value), .tar_paths = DefaultImageFiles()},
                [&](const AgentKey& key) { queue.Add(key); });
  const auto queue_all = [&] {
    if (const auto all = desired.Copy()) {
      for (const auto& [key, agent] : all->agents) queue.Add(key);
    }
  };
  const auto key_of = [&](const std::string& uid) -> std::optional<AgentKey> {
    if (const auto all = desired.Copy()) {
      for (const auto& [key, agent] : all->agents) {
        if (agent.identity && agent.identity->uid() == uid) return key;
      }
    }
    return std::nullopt;
  };
  GatewayClient gateway(loop, clock, paths.AdminSocket(), BEIGE_VERSION,
                        {.grants = [&]() -> std::optional<std::vector<admin::Grant>> {
                           const auto all = desired.Copy();
                           return all ? std::optional(GrantsOf(*all)) : std::nullopt;
                         },
                         .changed = [&](const std::string& uid) {
                           if (const auto key = key_of(uid)) queue.Add(*key);
                         },
                         .link_changed = queue_all});
  DiskPressure pressure;
  Reconciler reconciler({.paths = paths, .home = home, .bin_dir = bin_dir, .default_image = DefaultImage(*loaded.value),
                         .engine_socket = socket, .runtime = *runtime, .index = index, .gateway = gateway, .identities = identities,
                         .status = status, .events = events, .images = images, .desired = desired, .config = config, .clock = clock,
                         .disk = pressure,
                         .hooks = {.on_start = [&](const AgentKey& key, const std::string& reason,
                                                   double took) { metrics.SandboxStarted(key, reason, took); },
                                   .on_status =
                                       [&](const Agent& agent) {
                                         metrics.AgentStatusChanged(agent);
                                         info_writer.Saw(agent);
                                       },
                                   .on_gone =
                                       [&](const AgentKey& key) {
                                         metrics.AgentGone(key);
                                         info_writer.Gone(key);
                                       },
                                   .on_engine_trouble = [&] { queue.Add(kSweepKey); }}});
  Sweep sweep({.home = home, .runtime = *runtime, .index = index, .desired = desired, .identities = identities, .events = events,
               .queue = queue});

  DiskWatch disk({.paths = paths, .desired = desired, .config = config, .index = index, .pressure = pressure, .queue = queue, .clock = clock,
                  .free_space = nullptr});

  // The source, on a thread of its own: it reads and writes files.
  Intake intake({.paths = paths, .identities = identities, .desired = desired, .config = config, .events = events,
                 .changed = [&](const AgentKey& key) { queue.Add(key); },
                 .first =
                     [&] {
                       gateway.GrantsReady();
                       queue.Add(kSweepKey);
                       for (const AgentKey& key : identities.TombstoneKeys()) queue.Add(key);
                       for (const AgentKey& key : status.OnDisk()) queue.Add(key);
                     }});
  Loop source_loop;
  FileSource source(source_loop, clock, paths.AgentsDir(), {}, [&](const Snapshot& snapshot) { intake.OnSnapshot(snapshot); });
  std::vector<KnownAgent> known;
  for (const Identity& identity : identities.All()) known.push_back({identity.agent, identity.file});
  source.Seed(known);

  // Metrics, and what `beige status` reads.
  auto server = http::Server::Start(loaded.value->metrics.host, loaded.value->metrics.port, {}, MakeHttpHandler(metrics, queue, desired));
  if (!server) return FailIn("operator.yaml: metrics", server.error());
  ConfigWatch config_watch(paths, config, clock, [&] {
    source_loop.Post([&] { intake.Again(); });  // the range of uids may be another one
    queue_all();
  });
  OperatorInfo info;
  info.pid = ::getpid();
  info.version = BEIGE_VERSION;
  info.metrics_port = (*server)->port();
  info.started_at = FormatTime(clock.WallNow());
  info.engine_socket = socket;
  info.home_id = home.id;
  const auto write_info = [&] {
    const SandboxIndex::Engine engine = index.engine();
    const GatewayClient::Link link = gateway.link();
    const auto all = desired.Copy();
    info.engine_type = engine.info.type;
    info.engine_version = engine.info.version;
    info.engine_api = engine.info.api_version;
    info.engine_state = !engine.asked ? "asking" : engine.up ? "up" : "down";
    info.engine_message = engine.message;
    info.gateway_state = link.synced ? "synced" : link.connected ? "connected" : "absent";
    info.gateway_message = link.synced ? "" : link.message;
    info.agents = all ? static_cast<int64_t>(all->agents.size()) : 0;
    info.problems = all ? all->problems : std::vector<Problem>();
    info.problems.insert(info.problems.end(), config_watch.problems().begin(), config_watch.problems().end());
    info.home_copied = home.copied;
    info.notice = home.copied ? home.why : all && !all->notice.empty() ? all->notice : config_watch.notice();
    info_writer.Write(info);
  };

  // Start, bottom up.
  Workers workers(queue, reconciler, sweep, disk, metrics);
  auto subscription = runtime->Subscribe(
      home.id,
      [&](const runtime::Event& event) {
        if (event.action.starts_with("exec") || event.action.starts_with("health")) return;
        if (event.action.starts_with("network-")) {  // somebody connected it to a network, or took it off one
          const auto uid = index.OwnerOf(event.id);
          const auto key = uid ? key_of(*uid) : std::nullopt;
          if (!key) return;
          index.Suspect(*uid);
          queue.Add(*key);
          return;
        }
        if (event.action == "update") index.Suspect(event.key.uid);
        queue.Add({event.key.namespace_, event.key.agent});
      },
      [&](bool up) {
        if (up) index.Suspect("");  // whatever happened meanwhile was not seen
        queue.Add(kSweepKey);
      });
  gateway.Start();
  Timer intake_again(source_loop);
  std::thread source_thread([&] {
    source.Start();
    intake_again.StartEvery(seconds(5), [&] {
      if (intake.incomplete()) intake.Again();
    });
    source_loop.Run();
  });
  Timer resync(loop), slow(loop), every_second(loop), first_word(loop), disk_look(loop);
  std::function<void()> arm_resync = [&] {
    resync.Start(config.Copy()->resync, [&] {
      queue.Add(kSweepKey);
      arm_resync();
    });
  };
  arm_resync();
  slow.StartEvery(seconds(300), [&] {
    index.Suspect("");
    queue_all();
  });
  queue.Add(kDiskKey);  // what is lost later is lost of what is free now
  disk_look.StartEvery(seconds(5), [&] { queue.Add(kDiskKey); });
  every_second.StartEvery(seconds(1), [&] {
    config_watch.Look();
    write_info();
  });
  // Whoever waits for `beige up` wants to hear of the engine without a second's delay.
  first_word.StartEvery(std::chrono::milliseconds(20), [&] {
    if (!index.engine().asked) return;
    write_info();
    first_word.Cancel();
  });
  // A workspace may take minutes to remove.
  Loop janitor_loop;
  Timer purge(janitor_loop);
  std::atomic<bool> purging{true};
  std::thread janitor([&] {
    const auto purge_trash = [&] {
      purging = true;
      if (Result<> purged = PurgeTrash(paths.Trash(), clock.WallNow()); !purged) LogWarn("trash: " + purged.error().message);
      purging = false;
    };
    purge_trash();
    purge.StartEvery(std::chrono::hours(1), purge_trash);
    janitor_loop.Run();
  });
  write_info();
  loop.OnSignal({SIGTERM, SIGINT}, [&](int) { loop.Stop(); });
  loop.OnSignal({SIGHUP}, [&](int) { config_watch.Look(); });
  LogInfo("operator started", {{"home", paths.home()}, {"version", BEIGE_VERSION}, {"engine", socket}});
  loop.Run();

  // Stop, top down. Whoever is in the middle of a call gets a moment; a pull or a start that takes longer is dropped: the next operator
  // heals whatever it left.
  LogInfo("operator stopping; sandboxes go on");
  source_loop.Stop();
  source_thread.join();
  queue.ShutDown();
  gateway.Stop();
  const SteadyTime deadline = clock.Now() + kStopWithin;
  janitor_loop.Stop();
  while ((!workers.AllDone() || purging) && clock.Now() < deadline) loop.RunOnce(std::chrono::milliseconds(20));
  if (!workers.AllDone() || images.Busy() || purging) std::_Exit(0);
  janitor.join();
  subscription.reset();
  return {};
}

}  // namespace beige
