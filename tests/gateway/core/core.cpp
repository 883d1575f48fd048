#include "tests/gateway/core/core.h"

#include <sys/stat.h>

#include <sstream>

#include "base/files.h"

namespace beige::testing {

bool Eventually(const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

Core::Core(AuditSync sync) : paths_(home_.path() + "/h"), sync_(sync) {
  (void)MakeDirs(paths_.LogsDir(), 0700);
  Up();
}

Core::~Core() { Down(); }

void Core::Up() {
  loop_ = std::make_unique<Loop>();
  auto audit = AuditLog::Open(paths_.AuditLog(), sync_, clock_, metrics_);
  if (!audit) throw std::runtime_error(audit.error().message);
  audit_ = std::move(*audit);
  roster_ = std::make_unique<Roster>(*loop_, paths_, *audit_, metrics_, clock_);
  calls_ = std::make_unique<Calls>(*loop_, *roster_, *audit_, metrics_, clock_);
  roster_->OnEvent([this](const admin::ToOperator& event) { events_.With([&](auto& events) { events.push_back(event); }); });
  thread_ = std::thread([this] { loop_->Run(); });
  Configure();
  const auto started = On([this] { return roster_->Start(); });
  if (!started) throw std::runtime_error(started.error().message);
}

void Core::Down() {
  // On the core thread, as everything that these own runs there.
  On([this] {
    calls_.reset();
    roster_.reset();
    audit_.reset();
  });
  loop_->Stop();
  thread_.join();
  loop_.reset();
}

void Core::Restart() {
  Down();
  events_.Set({});
  Up();
}

ToolManifest& Core::AddTool(const std::string& name, const std::string& script) {
  ToolManifest& tool = tools_[name];
  tool.name = name;
  tool.description = "A tool of a test";
  tool.folder = paths_.home() + "/tools/" + name;
  tool.command = {tool.folder + "/main"};
  (void)MakeDirs(tool.folder, 0755);
  std::ofstream(tool.folder + "/main", std::ios::binary) << script;
  ::chmod((tool.folder + "/main").c_str(), 0755);
  return tool;
}

void Core::Configure() {
  std::vector<std::shared_ptr<const ToolManifest>> tools;
  for (const auto& [name, tool] : tools_) tools.push_back(std::make_shared<ToolManifest>(tool));
  auto snapshot = std::make_shared<const GatewayConfig>(config);
  On([&] {
    audit_->SetBudget(config.audit_per_agent_bytes_per_day);
    roster_->SetConfig(snapshot, tools);
  });
}

admin::InForce Core::Grant(const std::string& agent, std::vector<std::string> tools) {
  admin::Grant grant;
  grant.agent = RefOf(agent);
  static int64_t generation = 0;
  grant.generation = ++generation;
  grant.tools = std::move(tools);
  auto in_force = On([&] { return roster_->Put(grant); });
  if (!in_force) throw std::runtime_error(in_force.error().message);
  return *in_force;
}

std::vector<std::string> Core::AuditLines() const {
  std::ifstream file(paths_.AuditLog());
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

bool Core::AuditShows(const std::function<bool(const std::vector<std::string>&)>& done) const {
  return Eventually([&] { return done(AuditLines()); });
}

bool Core::EventShows(const std::function<bool(const admin::ToOperator&)>& wanted) {
  return Eventually([&] {
    return events_.With([&](const auto& events) { return std::any_of(events.begin(), events.end(), wanted); });
  });
}

}  // namespace beige::testing
