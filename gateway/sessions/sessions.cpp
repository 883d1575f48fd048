#include "gateway/sessions/sessions.h"

#include <map>
#include <utility>

#include "api/paths.h"
#include "base/files.h"
#include "base/log.h"
#include "base/random.h"
#include "base/trash.h"
#include "gateway/sessions/compaction.h"
#include "gateway/sessions/listing.h"
#include "gateway/sessions/session.h"
#include "gateway/sessions/turn.h"

namespace beige::sessions {
namespace {
constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::seconds kKeepIdle{60};
constexpr std::chrono::hours kPurge{1};
constexpr size_t kOpenedEachTick = 16;
constexpr size_t kMaxText = 1u << 20;
using Key = std::pair<std::string, std::string>;  // the agent's uid, the session's id
}  // namespace

struct Sessions::Impl {
  using Waiter = std::function<void(Result<Session*>)>;

  Impl(Loop& loop, const Clock& clock, const HomePaths& home, Roster& roster, CallService& calls, AuditLog& audit, GatewayMetrics& metrics, llm::Llm& models)
      : paths(home), tools(loop, calls), disk(loop), services{loop, clock, roster, audit, metrics, models, tools, disk}, tick(loop), purge(loop) {
    roster.OnRemoved([this](const AgentRef& agent) { Remove(agent); });
    purge.StartEvery(kPurge, [this] { Purge(); });
    Purge();
    tick.StartEvery(kTick, [this] { Tick(); });
    disk.Run([directory = paths.Sessions()] { return FindLeft(directory); }, [this](std::vector<Left> found) { left = std::move(found); });
  }

  std::string Directory(const AgentRef& agent) const { return paths.SessionsDir(agent.key()); }

  // The session in memory, read from its file if it is not there yet.
  void With(const AgentRef& agent, const std::string& id, Waiter fn) {
    if (!IsSessionId(id)) return fn(Fail(Code::kInvalid, "session: want 1 to 64 letters, digits, - and _, got \"" + id.substr(0, 64) + "\""));
    const Key key{agent.uid, id};
    if (const auto found = open.find(key); found != open.end()) return fn(found->second.get());
    auto& waiters = loading[key];
    waiters.push_back(std::move(fn));
    if (waiters.size() > 1) return;
    disk.Run([path = SessionFile(Directory(agent), id), uid = agent.uid] { return LoadSession(path, uid); },
             [this, key, agent](Result<Loaded> loaded) {
               const std::vector<Waiter> told = std::move(loading.extract(key).mapped());
               Session* session = nullptr;
               if (loaded && !services.roster.StandingOf(agent.uid)) loaded = Fail(Code::kNotFound, "no agent " + agent.name);  // it was removed meanwhile
               if (loaded) session = Put(agent, key.second, std::move(loaded->transcript), std::move(loaded->file));
               for (const Waiter& waiter : told) {
                 // One before may have deleted it.
                 const bool there = session != nullptr && open.contains(key);
                 waiter(there ? Result<Session*>(session) : loaded ? Fail(Code::kNotFound, "no session " + key.second) : tl::make_unexpected(loaded.error()));
               }
             });
  }

  Session* Put(const AgentRef& agent, const std::string& id, Transcript transcript, std::shared_ptr<LogFile> file) {
    auto session = std::make_unique<Session>(services, agent, id, std::move(transcript), std::move(file));
    if (session->holds() && CanWork(agent)) session->Release();
    return (open[{agent.uid, id}] = std::move(session)).get();
  }

  // A detached prompt has nobody who would see that its calls fail while the sandbox still comes up.
  bool CanWork(const AgentRef& agent) const {
    if (!services.config || !services.roster.StandingOf(agent.uid)) return false;
    const auto mind = MindOf(services, agent, "", "");
    return mind && (mind->agent.connected || (mind->agent.grant.core_tools.empty() && mind->agent.grant.tools.empty()));
  }

  // A few at a time: each reads a file and begins a turn.
  void OpenLeft(const std::function<bool(const AgentRef&)>& can_work) {
    std::vector<Left> now;
    std::erase_if(left, [&](const Left& one) {
      if (now.size() >= kOpenedEachTick || !can_work(one.agent)) return false;
      now.push_back(one);
      return true;
    });
    for (const Left& one : now) {
      With(one.agent, one.id, [one](const Result<Session*>& session) {
        if (!session) LogWarn("a session with prompts that wait can't be read", {{"session", one.id}, {"error", session.error().message}});
      });
    }
  }

  Result<Session*> Make(const AgentRef& agent, const std::string& id) {
    if (const auto found = open.find({agent.uid, id}); found != open.end()) return found->second.get();  // by who waited for it as well
    BEIGE_TRY(MindOf(services, agent, "", ""));
    BEIGE_TRY(MakeDirs(Directory(agent), 0700));
    const std::string path = SessionFile(Directory(agent), id);
    auto file = LogFile::Create(path);
    if (!file && file.error().code == Code::kConflict) {
      // Not this agent's, or without a beginning: looked for, and not found. A fixed id (Beige's keys) must not be lost to it for ever.
      BEIGE_TRY(MoveAside(path, SessionFile(Directory(agent), "old-" + RandomUlid())));
      file = LogFile::Create(path);
    }
    if (!file) return Fail(Code::kUnavailable, "a session can't be begun: " + file.error().message);
    Session* session = Put(agent, id, Transcript(), std::move(*file));
    if (auto done = session->Write(Begun{id, agent.namespace_, agent.name, agent.uid}); !done) {
      Unmake(*session);
      return tl::make_unexpected(done.error());
    }
    return session;
  }

  // Of one that was made just now, and that nobody knows yet.
  void Unmake(const Session& session) {
    const Key key{session.agent().uid, session.id()};
    (void)RemoveFile(SessionFile(Directory(session.agent()), key.second));
    open.erase(key);
  }

  void Tick() {
    const SteadyTime now = services.clock.Now();
    std::map<std::string, bool> known;  // asked once an agent
    const auto can_work = [&](const AgentRef& agent) {
      const auto [at, first] = known.try_emplace(agent.uid, false);
      if (first) at->second = CanWork(agent);
      return at->second;
    };
    if (!left.empty()) OpenLeft(can_work);
    for (auto it = open.begin(); it != open.end();) {
      Session& session = *it->second;
      if (session.holds() && can_work(session.agent())) session.Release();
      const auto idle = session.IdleSince();
      it = idle && now - *idle > kKeepIdle ? open.erase(it) : std::next(it);
    }
  }

  // All that lies in the agent's directory, those of agents that bore its name before it included: the next one begins with an empty one.
  void Remove(const AgentRef& agent) {
    std::vector<std::unique_ptr<Session>> gone;
    for (auto it = open.lower_bound({agent.uid, ""}); it != open.end() && it->first.first == agent.uid; it = open.erase(it)) gone.push_back(std::move(it->second));
    for (const auto& session : gone) session->Close({Code::kNotFound, "agent " + agent.name + " was removed"});
    std::erase_if(left, [&](const Left& one) { return one.agent.uid == agent.uid; });
    if (services.roster.Find(agent.key())) return;  // its successor is there already, and never sees what is not its own
    auto moved = MoveToTrash(paths.Sessions(), Directory(agent), paths.SessionsTrash(), agent.namespace_ + "-" + agent.name, services.clock.WallNow());
    if (!moved) LogError("sessions of a removed agent stay where they are", {{"agent", agent.ToString()}, {"error", moved.error().message}});
  }

  void Purge() {
    disk.Run([trash = paths.SessionsTrash(), now = services.clock.WallNow()] { return PurgeTrash(trash, now); },
             [](const Result<>& purged) {
               if (!purged) LogWarn("trash of sessions: " + purged.error().message);
             });
  }

  const HomePaths paths;
  ToolRunner tools;
  Disk disk;
  Services services;
  Timer tick;
  Timer purge;
  std::map<Key, std::unique_ptr<Session>> open;
  std::map<Key, std::vector<Waiter>> loading;
  std::vector<Left> left;  // not opened yet
  std::map<WatchId, Key> watches;
  WatchId last_watch = 0;
};

Sessions::Sessions(Loop& loop, const Clock& clock, const HomePaths& paths, Roster& roster, CallService& calls, AuditLog& audit, GatewayMetrics& metrics,
                   llm::Llm& models)
    : impl_(std::make_unique<Impl>(loop, clock, paths, roster, calls, audit, metrics, models)) {}

Sessions::~Sessions() {
  impl_->services.roster.OnRemoved(nullptr);
  for (const auto& [key, session] : impl_->open) session->Stop({Code::kUnavailable, "the gateway is stopping"});
}

void Sessions::SetConfig(std::shared_ptr<const GatewayConfig> config, std::vector<std::shared_ptr<const ToolManifest>> tools) {
  impl_->services.config = std::move(config);
  impl_->services.manifests = std::move(tools);
}

void Sessions::Submit(Prompt prompt, Done<Accepted> done) {
  if (prompt.text.find_first_not_of(" \t\r\n") == std::string::npos && prompt.images.empty()) return done(Fail(Code::kInvalid, "text: want a prompt, got nothing"));
  if (prompt.text.size() > kMaxText) return done(Fail(Code::kInvalid, "text: want at most 1 MiB, got " + std::to_string(prompt.text.size()) + " bytes"));
  if (prompt.session.empty()) {
    auto session = impl_->Make(prompt.agent, RandomUlid());
    if (!session) return done(tl::make_unexpected(session.error()));
    auto accepted = (*session)->Submit(std::move(prompt));
    if (!accepted) impl_->Unmake(**session);
    return done(std::move(accepted));
  }
  const AgentRef agent = prompt.agent;
  const std::string id = prompt.session;
  impl_->With(agent, id, [this, agent, id, prompt = std::move(prompt), done = std::move(done)](Result<Session*> session) mutable {
    if (!session && session.error().code == Code::kNotFound && prompt.make) session = impl_->Make(agent, id);
    done(session ? (*session)->Submit(std::move(prompt)) : tl::make_unexpected(session.error()));
  });
}

void Sessions::Abort(const AgentRef& agent, const std::string& session, const std::string& prompt, Done<> done) {
  impl_->With(agent, session, [prompt, done = std::move(done)](Result<Session*> found) {
    done(found ? (*found)->Abort(prompt) : tl::make_unexpected(found.error()));
  });
}

void Sessions::Watch(const AgentRef& agent, const std::string& session, const std::string& after, Watcher* watcher, Done<WatchId> done) {
  const WatchId id = ++impl_->last_watch;
  impl_->watches[id] = {agent.uid, session};
  impl_->With(agent, session, [this, id, after, watcher, done = std::move(done)](Result<Session*> found) {
    if (!impl_->watches.contains(id)) return;  // it was ended before it began
    if (!found) {
      impl_->watches.erase(id);
      return done(tl::make_unexpected(found.error()));
    }
    (*found)->Watch(id, after, watcher, done);
  });
}

void Sessions::Unwatch(WatchId watch) {
  const auto found = impl_->watches.find(watch);
  if (found == impl_->watches.end()) return;
  if (const auto session = impl_->open.find(found->second); session != impl_->open.end()) session->second->Unwatch(watch);
  impl_->watches.erase(found);
}

void Sessions::Create(const AgentRef& agent, std::optional<std::string> model, std::optional<llm::ThinkingLevel> thinking, Done<Summary> done) {
  auto session = impl_->Make(agent, RandomUlid());
  if (!session) return done(tl::make_unexpected(session.error()));
  if (auto set = (*session)->SetModel(model.value_or(""), thinking); !set) {
    impl_->Unmake(**session);
    return done(tl::make_unexpected(set.error()));
  }
  done((*session)->Summarize());
}

void Sessions::List(const AgentRef& agent, Done<std::vector<Summary>> done) {
  impl_->disk.Run([directory = impl_->Directory(agent), uid = agent.uid] { return ListSessions(directory, uid); },
                  [this, uid = agent.uid, done = std::move(done)](Result<std::vector<Summary>> listed) {
                    if (listed) {
                      for (Summary& summary : *listed) {
                        if (const auto open = impl_->open.find({uid, summary.id}); open != impl_->open.end()) summary = open->second->Summarize();
                      }
                    }
                    done(std::move(listed));
                  });
}

void Sessions::Show(const AgentRef& agent, const std::string& session, size_t limit, Done<std::string> done) {
  impl_->With(agent, session, [this, agent, limit, done = std::move(done)](Result<Session*> found) {
    if (!found) return done(tl::make_unexpected(found.error()));
    impl_->disk.Run([path = SessionFile(impl_->Directory(agent), (*found)->id()), uid = agent.uid, summary = (*found)->Summarize(),
                     limit] { return ShowSession(path, uid, summary, limit); },
                    done);
  });
}

void Sessions::Delete(const AgentRef& agent, const std::string& session, Done<> done) {
  const Key key{agent.uid, session};
  if (IsSessionId(session) && !impl_->open.contains(key) && !impl_->loading.contains(key)) {
    impl_->disk.Run([path = SessionFile(impl_->Directory(agent), session), uid = agent.uid] { return RemoveSession(path, uid); }, done);
    return;
  }
  impl_->With(agent, session, [this, agent, done = std::move(done)](Result<Session*> found) {
    if (!found) return done(tl::make_unexpected(found.error()));
    const std::string id = (*found)->id();
    (*found)->Close({Code::kNotFound, "session " + id + " was deleted"});
    impl_->open.erase({agent.uid, id});
    done(RemoveFile(SessionFile(impl_->Directory(agent), id)));
  });
}

void Sessions::Compact(const AgentRef& agent, const std::string& session, std::string actor, Done<> done) {
  impl_->With(agent, session, [actor = std::move(actor), done = std::move(done)](Result<Session*> found) {
    if (!found) return done(tl::make_unexpected(found.error()));
    (*found)->Compact(actor, done);
  });
}

void Sessions::StopCompaction(const AgentRef& agent, const std::string& session) {
  if (const auto found = impl_->open.find({agent.uid, session}); found != impl_->open.end()) found->second->StopCompaction();
}

void Sessions::SetModel(const AgentRef& agent, const std::string& session, const std::string& model, std::optional<llm::ThinkingLevel> thinking, Done<Summary> done) {
  impl_->With(agent, session, [model, thinking, done = std::move(done)](Result<Session*> found) {
    if (!found) return done(tl::make_unexpected(found.error()));
    auto set = (*found)->SetModel(model, thinking);
    done(set ? Result<Summary>((*found)->Summarize()) : tl::make_unexpected(set.error()));
  });
}

}  // namespace beige::sessions
