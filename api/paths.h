#ifndef BEIGE_API_PATHS_H_
#define BEIGE_API_PATHS_H_

#include <string>

#include "api/agent_ref.h"

namespace beige {

// Where everything lies in a home. Who may write: (o) operator, (g) gateway, (p) person and CLI, (s) supervisor.
// Every function is pure; nobody else spells these names.
class HomePaths {
 public:
  explicit HomePaths(std::string home) : home_(std::move(home)) {}

  const std::string& home() const { return home_; }
  std::string GatewayYaml() const { return home_ + "/gateway.yaml"; }                // p
  std::string OperatorYaml() const { return home_ + "/operator.yaml"; }              // p
  std::string AgentsDir() const { return home_ + "/agents.d"; }                      // p
  std::string ChatHistory() const { return home_ + "/chat-history"; }                // p; 0600, what was typed to `beige chat`
  std::string ApiToken() const { return home_ + "/data/gateway/api-token"; }         // g; <home>/api-token links to it
  std::string ApiTokenLink() const { return home_ + "/api-token"; }                  // s

  std::string Workspaces() const { return home_ + "/agents"; }                       // o makes, sandboxes write
  std::string Workspace(const AgentKey& key) const { return Workspaces() + "/" + key.namespace_ + "/" + key.name + "/workspace"; }
  std::string Trash() const { return home_ + "/data/operator/trash"; }               // o; removed workspaces, kept 7 days

  std::string Sessions() const { return home_ + "/sessions"; }                       // g
  std::string SessionsTrash() const { return Sessions() + "/.trash"; }               // g; of removed agents, kept 7 days
  std::string SessionsDir(const AgentKey& key) const { return Sessions() + "/" + key.namespace_ + "/" + key.name; }

  std::string LogsDir() const { return home_ + "/logs"; }                            // g (audit), s (process logs)
  std::string AuditLog() const { return LogsDir() + "/audit.jsonl"; }                // g
  std::string ProcessLog(const std::string& process) const { return LogsDir() + "/" + process + ".log"; }  // s

  std::string DataOperator() const { return home_ + "/data/operator"; }              // o
  std::string StatusDir() const { return DataOperator() + "/status"; }               // o
  std::string StatusFile(const AgentKey& key) const { return StatusDir() + "/" + key.namespace_ + "/" + key.name + ".json"; }
  std::string EventsDir() const { return DataOperator() + "/events"; }               // o
  std::string EventsFile() const { return EventsDir() + "/events.jsonl"; }
  std::string IdentitiesDir() const { return DataOperator() + "/identities"; }       // o; uid, generation, sandbox uid per agent
  std::string OperatorInfo() const { return DataOperator() + "/operator.json"; }     // o; pid, metrics port, engine, for `beige status`
  std::string EtcDir(const std::string& uid) const { return DataOperator() + "/etc/" + Id(uid); }  // o; passwd and group of a sandbox

  std::string DataGateway() const { return home_ + "/data/gateway"; }                // g
  std::string GrantsDir() const { return DataGateway() + "/grants"; }                // g
  std::string KeysDir() const { return DataGateway() + "/keys"; }                    // g
  std::string ToolsData(const std::string& uid) const { return DataGateway() + "/tools/" + Id(uid); }  // g; of all tools of one agent
  std::string ToolData(const std::string& uid, const std::string& tool) const { return ToolsData(uid) + "/" + tool; }
  std::string ProviderHealth() const { return DataGateway() + "/provider-health.json"; }  // g; models that cool down
  std::string GatewayInfo() const { return DataGateway() + "/gateway.json"; }        // g; pid, ports, for `beige status`
  // Shown inside a sandbox, read-only; written by the gateway (only it may read what it publishes), entries change by rename.
  std::string Tree(const std::string& uid) const { return DataGateway() + "/trees/" + Id(uid); }
  std::string LaunchersDir(const std::string& uid) const { return Tree(uid) + "/bin"; }      // /tools/bin
  std::string PackagesDir(const std::string& uid) const { return Tree(uid) + "/packages"; }  // /tools/packages
  std::string SkillsDir(const std::string& uid) const { return Tree(uid) + "/skills"; }      // /skills

  std::string BinDir(const std::string& version) const { return home_ + "/bin/" + version; }  // o; immutable once made

  std::string RunDir() const { return home_ + "/run"; }                              // 0700
  std::string LinkDir(const std::string& uid) const { return RunDir() + "/" + Id(uid); }      // g; 0755, mounted at /beige
  std::string GatewaySocket(const std::string& uid) const { return LinkDir(uid) + "/gateway.sock"; }
  std::string ControlSocket(const std::string& uid) const { return LinkDir(uid) + "/control.sock"; }
  std::string AdminSocket() const { return RunDir() + "/admin.sock"; }               // g; 0600
  std::string CliSocket() const { return RunDir() + "/cli.sock"; }                   // g; 0600
  std::string SupervisorLock() const { return RunDir() + "/up.lock"; }               // s; holds the pid
  std::string SupervisorInfo() const { return RunDir() + "/up.json"; }               // s

  // 10 characters from the uid: short for sun_path, unique per incarnation.
  static std::string Id(const std::string& uid);

 private:
  std::string home_;
};

// Owner's choice: --home, BEIGE_HOME, else ~/.beige.
std::string DefaultHome();

}  // namespace beige

#endif
