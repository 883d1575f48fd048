#include "tests/operator/reconcile_harness.h"

#include "operator/reconcile/publish.h"

namespace beige::testing {
using std::chrono::seconds;

Operator::Operator(const std::string& home_path, runtime::fake::FakeRuntime& engine, TinyGateway&, StepClock& step_clock)
    : paths(home_path),
      runtime(engine),
      clock(step_clock),
      config(std::make_shared<const OperatorConfig>()),
      identities(paths, clock),
      status(paths),
      events(paths, clock),
      queue(clock, {}) {
  const auto facts = ReadMachineFacts(paths);
  EXPECT_TRUE(facts);
  home = *LoadHomeId(paths, *facts, false);
  EXPECT_TRUE(identities.Load());
  EXPECT_TRUE(MakeDirs(paths.RunDir(), 0700));
  EXPECT_TRUE(MakeDirs(home_path + "/bin/test", 0755));
  for (const Identity& identity : identities.All()) merger_.Seed({identity.agent, identity.file});

  const auto add = [this](const AgentKey& key) {
    queue.Add(key);
    Poke();
  };
  images_ = std::make_unique<Images>(runtime, clock, Images::Options{.default_image = kImage, .tar_paths = {home_path + "/image.tar"}}, add);
  const auto grants = [this]() -> std::optional<std::vector<admin::Grant>> {
    const auto all = desired.Copy();
    return all ? std::optional(GrantsOf(*all)) : std::nullopt;
  };
  const auto changed = [this, add](const std::string& uid) {
    if (const auto all = desired.Copy()) {
      for (const auto& [key, agent] : all->agents) {
        if (agent.identity && agent.identity->uid() == uid) add(key);
      }
    }
  };
  const auto link_changed = [this, add] {
    if (const auto all = desired.Copy()) {
      for (const auto& [key, agent] : all->agents) add(key);
    }
  };
  client_ = std::make_unique<GatewayClient>(loop_, clock, paths.AdminSocket(), "test",
                                            GatewayClient::Callbacks{.grants = grants, .changed = changed, .link_changed = link_changed});
  reconciler_ = std::make_unique<Reconciler>(Reconciler::Deps{
      .paths = paths, .home = home, .bin_dir = home_path + "/bin/test", .default_image = kImage, .engine_socket = "", .runtime = runtime,
      .index = index, .gateway = *client_, .identities = identities, .status = status, .events = events, .images = *images_,
      .desired = desired, .config = config, .clock = clock, .disk = pressure,
      .hooks = {.on_start = [this](const AgentKey& key, const std::string& why, double took) { metrics.SandboxStarted(key, why, took); },
                .on_status = [this](const Agent& agent) { metrics.AgentStatusChanged(agent); },
                .on_gone = [this](const AgentKey& key) { metrics.AgentGone(key); },
                .on_engine_trouble = [this] { queue.Add(kSweepKey); }}});
  disk_ = std::make_unique<DiskWatch>(DiskWatch::Deps{.paths = paths, .desired = desired, .config = config, .index = index,
                                                      .pressure = pressure, .queue = queue, .clock = clock,
                                                      .free_space = [this] { return DiskSpace{free_space, free_files, 100}; }});
  sweep_ = std::make_unique<Sweep>(Sweep::Deps{.home = home, .runtime = runtime, .index = index, .desired = desired,
                                               .identities = identities, .events = events, .queue = queue});
  intake_ = std::make_unique<Intake>(Intake::Deps{.paths = paths, .identities = identities, .desired = desired, .config = config,
                                                  .events = events, .changed = add, .first = [this] {
                                                    client_->GrantsReady();
                                                    queue.Add(kSweepKey);
                                                    for (const AgentKey& key : identities.TombstoneKeys()) queue.Add(key);
                                                    for (const AgentKey& key : status.OnDisk()) queue.Add(key);
                                                  }});
  subscription_ = runtime.Subscribe(
      home.id,
      [this, add](const runtime::Event& event) {
        if (event.action == "update") index.Suspect(event.key.uid);
        add({event.key.namespace_, event.key.agent});
      },
      [this, add](bool up) {
        if (up) index.Suspect("");
        add(kSweepKey);
      });
  loop_.Post([this] { client_->Start(); });
  thread_ = std::thread([this] { loop_.Run(); });
}

Operator::~Operator() {
  subscription_.reset();
  client_->Stop();
  loop_.Stop();
  thread_.join();
  images_.reset();
}

void Operator::Poke() {
  std::lock_guard lock(mutex_);
  ++pokes_;
  wake_.notify_all();
}

void Operator::Files(const std::map<std::string, std::string>& files) {
  std::map<std::string, FileView> views;
  for (const auto& [name, text] : files) {
    LoadedFile loaded = LoadAgents(text, name);
    views[name] = {std::move(loaded.agents), std::move(loaded.problems), {}};
  }
  const Snapshot snapshot = merger_.Merge(views);
  merger_.Forget(snapshot);
  intake_->OnSnapshot(snapshot);
}

void Operator::Step() {
  while (const auto key = queue.TryGet()) {
    if (*key == kDiskKey) {
      disk_->Run();
    } else if (*key == kSweepKey) {
      if (!sweep_->Run()) queue.AddAfter(kSweepKey, seconds(2));
    } else {
      const Reconciler::Outcome outcome = reconciler_->Reconcile(*key);
      if (outcome.result) {
        queue.Forget(*key);
      } else {
        queue.AddRateLimited(*key);
      }
      if (outcome.look_again) queue.AddAfter(*key, *outcome.look_again);
    }
    queue.Done(*key);
  }
}

bool Operator::Until(const std::function<bool()>& predicate) {
  const auto deadline = std::chrono::steady_clock::now() + seconds(10);
  for (;;) {
    uint64_t seen = 0;
    {
      std::lock_guard lock(mutex_);
      seen = pokes_;
    }
    Step();
    if (predicate()) return true;
    std::unique_lock lock(mutex_);
    if (!wake_.wait_until(lock, deadline, [&] { return pokes_ != seen; })) return false;
  }
}

void Operator::AdvanceAndStep(std::chrono::nanoseconds by) {
  clock.Advance(by);
  Step();
}

std::optional<Agent> Operator::Get(const std::string& agent) {
  const auto text = ReadFileIfExists(paths.StatusFile({"default", agent}));
  if (!text || !*text) return std::nullopt;
  auto decoded = DecodeAgent(**text);
  EXPECT_TRUE(decoded) << decoded.error().message;
  return *decoded;
}

std::string Operator::Show(const std::string& agent, const std::string& condition) {
  const auto found = Get(agent);
  if (!found) return "no status";
  const Condition* c = FindCondition(found->status.conditions, condition);
  if (!c) return "no condition";
  return std::string(c->status == Truth::kTrue ? "True" : c->status == Truth::kFalse ? "False" : "Unknown") + " " + c->reason;
}

std::string Operator::Message(const std::string& agent, const std::string& condition) {
  const auto found = Get(agent);
  const Condition* c = found ? FindCondition(found->status.conditions, condition) : nullptr;
  return c ? c->message : "";
}

std::string Operator::Events() {
  const auto text = ReadFileIfExists(paths.EventsFile());
  return text && *text ? **text : "";
}

ReconcileTest::ReconcileTest() : gateway((MakeDirs(home / "run", 0700), home / "run/admin.sock")) {
  runtime.AddImage(kImage);
  gateway.on_grant = [this](const admin::Grant& grant) {  // what the real one makes for every grant
    const HomePaths paths(home.path());
    const std::string& uid = grant.agent.uid;
    for (const std::string& dir : {paths.LinkDir(uid) + "/bin", paths.LaunchersDir(uid), paths.PackagesDir(uid), paths.SkillsDir(uid)}) {
      EXPECT_TRUE(MakeDirs(dir, 0755));
    }
  };
  runtime.OnStart([this](const std::string& id) {
    on_start(id);
    const auto sandbox = runtime.Observe(id);
    if (!registers || !sandbox || !*sandbox || (*sandbox)->state != runtime::State::kRunning) return;
    gateway.Say(admin::Registered{(*sandbox)->key.uid, (*sandbox)->instance, "test"});
    gateway.Say(admin::RoundTrip{(*sandbox)->key.uid, true, 300, ""});
  });
  gateway.Listen();
  Boot();
}

ReconcileTest::~ReconcileTest() {
  op.reset();
  runtime.OnStart(nullptr);
}

void ReconcileTest::MakeReady(const std::string& spec) {
  Edit(spec);
  ASSERT_TRUE(op->Until([&] { return op->IsReady("one"); })) << op->Show("one", "Ready") << ": " << op->Message("one", "Ready");
}

std::vector<runtime::Observed> ReconcileTest::Sandboxes() { return *runtime.List(op->home.id); }

runtime::Observed ReconcileTest::Only() {
  const auto all = Sandboxes();
  EXPECT_EQ(all.size(), 1u);
  return all.empty() ? runtime::Observed{} : all[0];
}

}  // namespace beige::testing
