#ifndef BEIGE_CLI_CHAT_CHAT_H_
#define BEIGE_CLI_CHAT_CHAT_H_

#include <memory>
#include <string>
#include <vector>

#include "cli/chat/follow_turn.h"
#include "cli/chat/line_source.h"
#include "cli/chat/session_list.h"
#include "cli/chat/terminal_text.h"
#include "cli/globals.h"

namespace beige::cli {

struct ChatOptions {
  std::string name;
  std::string session;
  bool go_on = false;  // with the newest session
  std::string model;
  std::string thinking;
  std::string timeout = "60s";  // for the agent to be ready
};
// `beige chat NAME`: a conversation in the terminal; without a terminal each line of stdin is a prompt, and the exit status is that of the
// last turn that failed.
int RunChat(const Globals& globals, const ChatOptions& options);

// One conversation after the other with one agent: what a person types is a prompt or a /command. One thread.
class Chat {
 public:
  Chat(const Globals& globals, const ChatOptions& options, CaughtSignals& signals);
  int Run();
  static std::vector<std::string> Commands();  // "/help", ...

 private:
  bool Begin();                        // the session that the options name; false when there is none
  void Greet();
  void Say(const std::string& text);   // one turn
  void Command(const std::string& line);
  void Help();
  void ShowSessions();
  void SwitchTo(const std::string& which);  // an id, or a number of the last list
  bool Open(const std::string& id);
  void Model(const std::string& model, const std::string& thinking);
  void ShowModels();
  void Compact();
  void Abort();
  bool NeedsSession(const char* what);
  void Note(const std::string& text);  // dimmed
  int Failed(const Error& error);      // prints it
  size_t Width() const;

  const Globals& globals_;
  const ChatOptions& options_;
  CaughtSignals& signals_;
  const AgentKey agent_;
  const bool on_terminal_;
  const bool colour_;
  const Palette palette_;
  std::unique_ptr<LineSource> lines_;
  std::string session_;   // "" = the next prompt begins one
  std::string model_;     // for the next prompt; "" = as before
  std::string thinking_;
  std::string answering_;  // the model that answered last
  std::vector<SessionSummary> listed_;
  int status_ = 0;
  bool over_ = false;
};

}  // namespace beige::cli

#endif
