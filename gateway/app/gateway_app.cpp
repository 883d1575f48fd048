// All wiring of the gateway, top to bottom: what starts later knows what started before, and everything stops in reverse.
#include "gateway/app/gateway_app.h"

#include <signal.h>

#include <cstdio>
#include <memory>

#include "api/paths.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/socket_stream.h"
#include "gateway/admin/admin_server.h"
#include "gateway/app/gateway_info.h"
#include "gateway/app/home_lock.h"
#include "gateway/app/process_setup.h"
#include "gateway/audit/audit_log.h"
#include "gateway/calls/calls.h"
#include "gateway/cli_socket/cli_socket.h"
#include "gateway/config/live_config.h"
#include "gateway/http/api.h"
#include "gateway/http/metrics_page.h"
#include "gateway/llm/llm.h"
#include "gateway/metrics/metrics.h"
#include "gateway/roster/roster.h"
#include "gateway/sessions/sessions.h"
#include "gateway/tools/confinement.h"
#include "http/http_server.h"

namespace beige {
namespace {
constexpr int kInvalidConfig = 2;

int Failed(const Error& error) {
  LogError("gateway can't start", {{"error", error.message}});
  return 1;
}

int InvalidConfig(const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) std::fprintf(stderr, "beige: %s\n", problem.ToString().c_str());
  LogError("configuration is invalid", {{"error", Join(problems, "; ")}});
  return kInvalidConfig;
}

void Audit(AuditLog& audit, const std::string& message) {
  if (auto noted = audit.Note("config", nullptr, "gateway", message); !noted) LogError("config change not audited", {{"error", noted.error().message}});
}

Result<std::unique_ptr<http::Server>> Serve(const char* key, const Listen& at, const http::Limits& limits, http::Handler handler) {
  auto server = http::Server::Start(at.host, at.port, limits, std::move(handler));
  if (server) return server;
  return Fail(server.error().code, server.error().message + "; set " + key + " in gateway.yaml to another address (port 0 takes any free one)");
}
}  // namespace

int RunGateway(const std::string& home) {
  const HomePaths paths(home);
  const RealClock clock;
  Loop loop;
  if (auto done = SetUpProcess(); !done) return Failed(done.error());
  if (auto done = PrepareDirectories(paths); !done) return Failed(done.error());
  const auto lock = LockHome(paths);
  if (!lock) return Failed(lock.error());
  loop.OnSignal({SIGTERM, SIGINT}, [&](int) { loop.Stop(); });

  GatewayMetrics metrics;
  auto audit = AuditLog::Open(paths.AuditLog(), AuditSync::kBatch, clock, metrics);
  if (!audit) return Failed({audit.error().code, "audit log: " + audit.error().message + "; no call can run without it"});

  if (auto done = EnsureDefaultToken(paths); !done) return Failed(done.error());
  std::function<void(const ConfigSet&)> apply;
  std::function<void(const std::vector<std::string>&)> tell_problems;
  LiveConfig config(loop, paths, ProcessEnv(), {},
                    {[&](const ConfigSet& set) { apply(set); }, [&](const std::vector<std::string>& problems) { tell_problems(problems); }});
  if (const auto problems = config.Start(); !problems.empty()) return InvalidConfig(problems);

  // Grants of the last run are in force before anybody can ask.
  Roster roster(loop, paths, **audit, metrics, clock);
  Calls calls(loop, roster, **audit, metrics, clock);
  llm::Llm models(loop, clock, metrics, paths.ProviderHealth());
  sessions::Sessions conversations(loop, clock, paths, roster, calls, **audit, metrics, models);
  Api api(loop, roster, calls, **audit, clock, config.current().config->http);
  api.SetSessions(&conversations);
  api.SetModels([&] { return models.Models(); });
  apply = [&](const ConfigSet& set) {
    if (auto done = models.SetConfig(set.config); !done) LogError("model providers over https can't be asked", {{"error", done.error().message}});
    (*audit)->SetSync(set.config->audit_sync);
    (*audit)->SetBudget(set.config->audit_per_agent_bytes_per_day);
    (*audit)->SetKeep(set.config->audit_keep);
    roster.SetConfig(set.config, set.tools);
    conversations.SetConfig(set.config, set.tools);
    api.SetConfig(set);
  };
  apply(config.current());
  if (auto done = roster.Start(); !done) return Failed(done.error());

  Timer audit_tick(loop);
  audit_tick.StartEvery(std::chrono::seconds(1), [&] { (*audit)->Tick(); });
  WriteBatch batch;
  const auto admin = AdminServer::Open(loop, batch, paths, roster);
  if (!admin) return Failed(admin.error());
  const auto cli = CliSocket::Open(loop, batch, paths, roster, calls);
  if (!cli) return Failed(cli.error());

  const auto metrics_server = Serve("metrics.listen", config.current().config->metrics, MetricsLimits(), MetricsPage(metrics));
  if (!metrics_server) return Failed(metrics_server.error());
  auto api_server = Serve("http.listen", config.current().config->http, api.limits(), [&](http::Request request, std::shared_ptr<http::Responder> responder) {
    api.Handle(std::move(request), std::move(responder));
  });
  if (!api_server) return Failed(api_server.error());

  GatewayInfoFile info(paths, (*api_server)->port(), (*metrics_server)->port(), DescribeConfinement(FindBubblewrap()));
  const auto write_info = [&] {
    if (auto done = info.Write(config.problems()); !done) LogError("gateway.json not written", {{"error", done.error().message}});
  };
  tell_problems = [&](const std::vector<std::string>& problems) {
    for (const std::string& problem : problems) LogError("configuration not taken over", {{"error", problem}});
    if (!problems.empty()) Audit(**audit, "not taken over: " + problems.front() + (problems.size() > 1 ? " and " + std::to_string(problems.size() - 1) + " more" : ""));
    write_info();
  };
  apply = [&, first = std::move(apply)](const ConfigSet& set) {
    first(set);
    LogInfo("configuration reloaded", {{"tools", std::to_string(set.tools.size())}});
    Audit(**audit, "reloaded: " + std::to_string(set.tools.size()) + " tools");
  };
  for (const std::string& problem : config.problems()) LogError("configuration not taken over", {{"error", problem}});
  write_info();
  config.Watch();
  api.SetReady(true);
  LogInfo("gateway serves", {{"version", BEIGE_VERSION}, {"http", std::to_string((*api_server)->port())}, {"metrics", std::to_string((*metrics_server)->port())}});
  loop.Run();

  LogInfo("gateway stops");
  api.CancelAll();     // their requests are answered while the server still runs
  api_server->reset();  // no thread calls the API after this
  return 0;
}

}  // namespace beige
