#include "cli/app/command_line.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

// This file and command_tree.cpp pay for CLI11.
#include <CLI/CLI.hpp>

#include "base/files.h"
#include "cli/adopt.h"
#include "cli/app/command_tree.h"
#include "cli/app/internal.h"
#include "cli/apply.h"
#include "cli/audit.h"
#include "cli/chat/chat.h"
#include "cli/chat/prompt.h"
#include "cli/chat/sessions.h"
#include "cli/check.h"
#include "cli/completion/scripts.h"
#include "cli/doctor/doctor.h"
#include "cli/exec_command.h"
#include "cli/explain.h"
#include "cli/get.h"
#include "cli/globals.h"
#include "cli/init.h"
#include "cli/logs.h"
#include "cli/policy.h"
#include "cli/report.h"
#include "cli/status.h"
#include "cli/up.h"
#include "cli/version.h"
#include "cli/wait.h"

namespace beige::cli {
namespace {

// As it is printed by `-o name`, or without.
std::string BareId(const std::string& text) {
  constexpr std::string_view kKind = "session/";
  return text.starts_with(kKind) ? text.substr(kKind.size()) : text;
}

// Every command's options beside the function that runs it.
class CommandLine {
 public:
  CommandLine() : app_("Keeps AI agents in sandboxes that they can work in.", "beige") {
    app_.require_subcommand(1);
    app_.add_option("--home", home_, "Beige's directory (or BEIGE_HOME; default ~/.beige)")->take_last();
    app_.add_option("-n,--namespace", globals_.namespace_, "namespace of the agent (default \"default\")")->take_last();
    app_.add_option("-o,--output", output_, "table, wide, json, yaml or name")->check(CLI::IsMember({"table", "wide", "json", "yaml", "name"}))->take_last();
    app_.footer("'beige COMMAND --help' shows the options of a command and an example.");
    AddLifecycle();
    AddFiles();
    AddViews();
    AddWait();
    AddExec();
    AddTalk();
    AddSessions();
    AddRecords();
    AddAnswers();
  }

  int Run(std::vector<std::string> arguments) {
    const std::string command = NameOf(arguments);
    // Everything after `--` is the command's (or the tool's), also a second `--` and words that look like our options.
    if (command == "exec" || command == "policy explain") {
      const auto cut = std::find(arguments.begin(), arguments.end(), "--");
      if (cut != arguments.end()) {
        (command == "exec" ? exec_.command : policy_.args).assign(cut + 1, arguments.end());
        arguments.erase(cut, arguments.end());
        cut_ = true;
      }
    }
    try {
      std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
      app_.parse(arguments);
    } catch (const CLI::CallForHelp& e) {
      return app_.exit(e) == 0 ? kDone : kFailed;
    } catch (const CLI::CallForAllHelp& e) {
      return app_.exit(e) == 0 ? kDone : kFailed;
    } catch (const CLI::ParseError& e) {
      const std::string see = command.empty() ? "see 'beige --help'" : "see 'beige " + command + " --help'";
      return Report(command, command == "exec" ? kExecFailed : kUsage, std::string(e.what()) + "; " + see);
    }
    globals_.home = home_.empty() ? DefaultHome() : AbsolutePath("", home_);
    globals_.namespace_given = app_.count("--namespace") > 0;
    globals_.output = output_ == "wide" ? Output::kWide : output_ == "json" ? Output::kJson : output_ == "yaml" ? Output::kYaml : output_ == "name" ? Output::kName : Output::kTable;
    return run_();
  }

 private:
  // The first words that name commands: "audit tail", for messages about the others.
  std::string NameOf(const std::vector<std::string>& arguments) const {
    std::string name;
    const CLI::App* at = &app_;
    for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
      if (arguments[i] == "--home" || arguments[i] == "-n" || arguments[i] == "--namespace" || arguments[i] == "-o" || arguments[i] == "--output") {
        ++i;
        continue;
      }
      const auto named = at->get_subcommands([&](const CLI::App* command) { return command->get_name() == arguments[i]; });
      if (named.empty()) break;
      name += (name.empty() ? "" : " ") + arguments[i];
      at = named.front();
    }
    return name;
  }

  CLI::App* Command(CLI::App& parent, const std::string& name, const std::string& what, const std::string& example, std::function<int()> run) {
    CLI::App* command = parent.add_subcommand(name, what);
    command->fallthrough();  // --home, -n and -o may stand after the command
    command->footer("Example:\n  " + example);
    if (run) {
      command->callback([this, run] { run_ = run; });
    } else {
      command->require_subcommand(1);
    }
    return command;
  }

  void AddLifecycle() {
    auto* up = Command(app_, "up", "Start and supervise the gateway and the operator", "beige up --detach", [this] { return RunUp(globals_, up_); });
    up->add_flag("-d,--detach", up_.detach, "return when both answer, and leave them running");
    up->add_option("--ready-fd", up_.ready_fd)->group("");
    auto* down = Command(app_, "down", "Stop what `up` started; sandboxes stay", "beige down --delete-sandboxes", [this] { return RunDown(globals_, down_); });
    down->add_flag("--delete-sandboxes", down_.delete_sandboxes, "remove this home's sandboxes too; workspaces stay");
    Command(app_, "status", "What runs, and what is wrong", "beige status -o json", [this] { return RunStatus(globals_); });
    Command(app_, "doctor", "What this machine and this home need for agents to run", "beige doctor -o json", [this] { return RunDoctor(globals_); });
    Command(app_, "adopt", "Make a home that was copied or moved the one that its sandboxes belong to", "beige adopt", [this] { return RunAdopt(globals_); });
    Command(app_, "version", "Version of this program", "beige version -o json", [this] { return RunVersion(globals_); });
  }

  void AddFiles() {
    auto* init = Command(app_, "init", "Write a commented home without a live agent", "beige init ~/.beige", [this] { return RunInit(globals_, init_directory_); });
    init->add_option("DIR", init_directory_, "where (default: the home)");
    auto* config = Command(app_, "config", "Configuration files", "beige config check", nullptr);
    Command(*config, "check", "Check every file of the home and print every problem", "beige config check", [this] { return RunConfigCheck(globals_); });
    auto* apply = Command(app_, "apply", "Create or change agents from files", "beige apply -f agent.yaml", [this] { return RunApply(globals_, apply_files_); });
    apply->add_option("-f,--filename", apply_files_, "a file, a directory, or - for stdin")->required()->expected(1)->take_all();
    auto* remove = Command(app_, "delete", "Delete agents", "beige delete agent researcher", [this] {
      if (delete_.names.empty() == delete_.files.empty()) return Report("delete", kUsage, "want 'agent NAME' or '-f PATH'; see 'beige delete --help'");
      return RunDelete(globals_, delete_);
    });
    remove->add_option("KIND", kind_, "agent")->check(CLI::IsMember({"agent", "agents"}));
    remove->add_option("NAME", delete_.names, "the agents' names");
    remove->add_option("-f,--filename", delete_.files, "delete the agents that these files define")->expected(1)->take_all();
    remove->add_flag("--ignore-not-found", delete_.ignore_not_found, "an agent that doesn't exist is no error");
  }

  void AddViews() {
    auto* get = Command(app_, "get", "List agents, tools, skills or models", "beige get agents -w", [this] { return RunGet(globals_, get_); });
    get->add_option("KIND", get_.kind, "agents, tools, skills or models")->required()->check(CLI::IsMember({"agents", "agent", "tools", "tool", "skills", "skill", "models", "model"}));
    get->add_option("NAME", get_.names, "only these");
    get->add_flag("-w,--watch", get_.watch, "go on and print what changes");
    get->add_flag("-A,--all-namespaces", globals_.all_namespaces, "of every namespace");
    auto* describe = Command(app_, "describe", "Everything about one agent", "beige describe agent researcher", [this] { return RunDescribe(globals_, name_); });
    describe->add_option("KIND", kind_, "agent")->required()->check(CLI::IsMember({"agent", "agents"}));
    describe->add_option("NAME", name_, "the agent's name")->required();
  }

  void AddWait() {
    auto* wait = Command(app_, "wait", "Wait for a condition of agents, or until they are gone", "beige wait agent researcher --for=condition=Ready --timeout=60s",
                         [this] { return RunWait(globals_, wait_); });
    wait->add_option("KIND", kind_, "agent")->required()->check(CLI::IsMember({"agent", "agents"}));
    wait->add_option("NAME", wait_.names, "the agents' names")->required();
    wait->add_option("--for", wait_.goal, "condition=NAME, condition=NAME=False or delete (default condition=Ready)");
    wait->add_option("--timeout", wait_.timeout, "how long, such as 60s (the default)");
  }

  void AddExec() {
    auto* exec = Command(app_, "exec", "Run a command in an agent's sandbox", "beige exec -it researcher -- bash", [this] {
      if (!cut_) exec_.command = exec_words_;
      else if (!exec_words_.empty()) return Report("exec", kExecFailed, "want one NAME before --, got another word \"" + exec_words_.front() + "\"; see 'beige exec --help'");
      return RunExec(globals_, exec_);
    });
    exec->add_flag("-i,--stdin", exec_.interactive, "pass stdin on");
    exec->add_flag("-t,--tty", exec_.tty, "give the command a terminal");
    exec->add_option("--timeout", exec_.timeout, "end the command after this time, such as 30s; exit status 124");
    exec->add_option("-e,--env", exec_.env, "KEY=VALUE for the command; repeatable")->expected(1)->take_all()->allow_extra_args(false);
    exec->add_option("-w,--workdir", exec_.workdir, "where to run it (default /workspace)");
    exec->add_option("NAME", exec_.name, "the agent's name")->required();
    exec->add_option("COMMAND", exec_words_, "the command, after --");
  }

  void AddTalk() {
    const auto models = [](CLI::App* command, std::string& model, std::string& thinking, std::string& timeout) {
      command->add_option("--model", model, "PROVIDER/ID for the session from now on; one of the agent's choices");
      command->add_option("--thinking", thinking, "how much the model thinks, from now on")->check(CLI::IsMember({"off", "minimal", "low", "medium", "high"}));
      command->add_option("--timeout", timeout, "how long to wait for the agent to be ready (default 60s)");
    };
    auto* chat = Command(app_, "chat", "Talk to an agent in the terminal", "beige chat researcher --continue", [this] { return RunChat(globals_, chat_); });
    chat->add_option("NAME", chat_.name, "the agent's name")->required();
    chat->add_option("--session", chat_.session, "go on with this session (default: a new one)")->transform(BareId);
    chat->add_flag("-c,--continue", chat_.go_on, "go on with the newest session");
    models(chat, chat_.model, chat_.thinking, chat_.timeout);
    auto* prompt = Command(app_, "prompt", "Say one thing to an agent and print its final answer", "beige prompt researcher \"What is in data.csv?\"\n  git diff | beige prompt researcher -o json -",
                           [this] { return RunPrompt(globals_, prompt_); });
    prompt->add_option("NAME", prompt_.name, "the agent's name")->required();
    prompt->add_option("TEXT", prompt_.text, "what is said; - or absent: stdin");
    prompt->add_option("--session", prompt_.session, "go on with this session (default: a new one)")->transform(BareId);
    prompt->add_option("--image", prompt_.images, "a FILE that the model sees: PNG, JPEG, GIF or WebP; repeatable")->expected(1)->take_all()->allow_extra_args(false);
    prompt->add_flag("-v,--verbose", prompt_.verbose, "show on stderr what the agent calls");
    models(prompt, prompt_.model, prompt_.thinking, prompt_.timeout);
  }

  void AddSessions() {
    auto* sessions = Command(app_, "sessions", "An agent's conversations: list, show, change", "beige sessions researcher", nullptr);
    sessions->require_subcommand(0, 1);
    sessions->add_option("NAME", sessions_name_, "the agent whose sessions are listed");
    sessions->callback([this, sessions] {
      if (sessions->get_subcommands().empty()) {
        sessions_.name = sessions_name_;
        run_ = [this] { return RunSessionsList(globals_, sessions_); };
      } else if (!sessions_name_.empty()) {
        run_ = [this] { return Report("sessions", kUsage, "one word too many: \"" + sessions_name_ + "\"; see 'beige sessions --help'"); };
      }
    });
    const auto add = [&](const char* name, const char* what, const std::string& example, int (*run)(const Globals&, const SessionsOptions&), bool with_id) {
      CLI::App* command = Command(*sessions, name, what, example, [this, run] { return run(globals_, sessions_); });
      command->add_option("NAME", sessions_.name, "the agent's name")->required();
      if (with_id) command->add_option("ID", sessions_.id, "the session's id, or session/ID as -o name prints it")->required()->transform(BareId);
      return command;
    };
    const auto thinking = [&](CLI::App* command) {
      command->add_option("--thinking", sessions_.thinking, "how much it thinks")->check(CLI::IsMember({"off", "minimal", "low", "medium", "high"}));
    };
    add("list", "The same as 'beige sessions NAME', also for an agent called show or new", "beige sessions list researcher", RunSessionsList, false);
    add("show", "What was said and done", "beige sessions show researcher 01J9Z3NDEKTSV4RRFFQ69G5FAV", RunSessionsShow, true)
        ->add_option("--limit", sessions_.limit, "only the last N messages")
        ->check(CLI::Range(1, 1 << 30));
    auto* fresh = add("new", "Make an empty session and print its name, session/ID", "beige sessions new researcher -o name", RunSessionsNew, false);
    fresh->add_option("--model", sessions_.model, "PROVIDER/ID; one of the agent's choices");
    thinking(fresh);
    add("delete", "Delete a session; what runs in it is aborted", "beige sessions delete researcher 01J9Z3NDEKTSV4RRFFQ69G5FAV", RunSessionsDelete, true);
    add("abort", "Take back what runs and what waits in a session", "beige sessions abort researcher 01J9Z3NDEKTSV4RRFFQ69G5FAV", RunSessionsAbort, true);
    add("compact", "Replace what was said by a summary", "beige sessions compact researcher 01J9Z3NDEKTSV4RRFFQ69G5FAV", RunSessionsCompact, true);
    auto* model = add("model", "Which model answers from now on", "beige sessions model researcher 01J9Z3NDEKTSV4RRFFQ69G5FAV openai/gpt-5 --thinking high", RunSessionsModel, true);
    model->add_option("MODEL", sessions_.model, "PROVIDER/ID; one of the agent's choices")->required();
    thinking(model);
  }

  void AddRecords() {
    auto* audit = Command(app_, "audit", "The audit log", "beige audit tail -f", nullptr);
    auto* tail = Command(*audit, "tail", "The latest records", "beige audit tail -f --agent researcher", [this] { return RunAuditTail(globals_, tail_); });
    tail->add_option("--lines", tail_.lines, "how many (default 20)")->check(CLI::Range(0, 1 << 30));
    tail->add_option("-n", tail_.lines, "the same as --lines")->check(CLI::Range(0, 1 << 30));
    tail->add_flag("-f,--follow", tail_.follow, "go on with new ones");
    tail->add_option("--agent", tail_.agent, "only this agent's: NAME or NAMESPACE/NAME");
    auto* show = Command(*audit, "show", "All records of one call", "beige audit show 01J9Z3NDEKTSV4RRFFQ69G5FAV", [this] { return RunAuditShow(globals_, audit_id_); });
    show->add_option("ID", audit_id_, "the call's id")->required();
    auto* logs = Command(app_, "logs", "Logs of the supervisor, the operator and the gateway", "beige logs researcher -f", [this] { return RunLogs(globals_, logs_); });
    logs->add_option("NAME", logs_.name, "only lines about this agent");
    logs->add_option("--lines,--tail", logs_.lines, "how many (default 200)")->check(CLI::Range(0, 1 << 30));
    logs->add_flag("-f,--follow", logs_.follow, "go on with new ones");
    auto* events = Command(app_, "events", "What happened to the agents", "beige events researcher -w", [this] { return RunEvents(globals_, events_); });
    events->add_option("NAME", events_.name, "only this agent's");
    events->add_option("--lines", events_.lines, "how many (default 100)")->check(CLI::Range(0, 1 << 30));
    events->add_flag("-w,--watch", events_.watch, "go on with new ones");
  }

  void AddAnswers() {
    auto* explain = Command(app_, "explain", "What a field of an Agent or of a configuration file means", "beige explain agent.spec.sandbox", [this] { return RunExplain(globals_, field_); });
    explain->add_option("FIELD", field_, "agent, gateway, operator or tool, and the field's path")->required();
    auto* policy = Command(app_, "policy", "What agents may do", "beige policy explain researcher kv get a", nullptr);
    auto* of_call = Command(*policy, "explain", "What the gateway would decide about a call, and by which rule", "beige policy explain researcher kv get a", [this] {
      policy_.args.insert(policy_.args.begin(), policy_words_.begin(), policy_words_.end());
      return RunPolicyExplain(globals_, policy_);
    });
    of_call->add_option("NAME", policy_.agent, "the agent's name")->required();
    of_call->add_option("TOOL", policy_.tool, "the tool's name, or exec")->required();
    of_call->add_option("ARGS", policy_words_, "the call's arguments; those that look like options after --");
    auto* completion = Command(app_, "completion", "Print a completion script for a shell", "beige completion bash", [this] {
      const CommandTree tree = TreeOf(app_);
      Print(shell_ == "bash" ? BashCompletion(tree) : shell_ == "zsh" ? ZshCompletion(tree) : FishCompletion(tree));
      return kDone;
    });
    completion->add_option("SHELL", shell_, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  }

  CLI::App app_;
  Globals globals_;
  std::string home_;
  std::string output_ = "table";
  std::function<int()> run_;
  bool cut_ = false;
  UpOptions up_;
  DownOptions down_;
  std::string init_directory_;
  std::vector<std::string> apply_files_;
  DeleteOptions delete_;
  GetOptions get_;
  std::string kind_;
  std::string name_;
  WaitOptions wait_;
  ExecOptions exec_;
  std::vector<std::string> exec_words_;
  ChatOptions chat_;
  PromptOptions prompt_;
  SessionsOptions sessions_;
  std::string sessions_name_;
  AuditTailOptions tail_;
  std::string audit_id_;
  LogsOptions logs_;
  EventsOptions events_;
  std::string field_;
  PolicyExplainOptions policy_;
  std::vector<std::string> policy_words_;
  std::string shell_;
};
}  // namespace

int RunCommandLine(int argc, char** argv) {
  if (const auto status = RunInternal(argc, argv)) return *status;
  return CommandLine().Run({argv + 1, argv + argc});
}

}  // namespace beige::cli
