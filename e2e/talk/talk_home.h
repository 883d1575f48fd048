#ifndef BEIGE_E2E_TALK_TALK_HOME_H_
#define BEIGE_E2E_TALK_TALK_HOME_H_

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "e2e/home.h"
#include "tests/gateway/llm/upstream.h"

namespace beige::e2e {

// What came of one prompt over HTTP.
struct Said {
  std::string session, text, error;
  std::vector<std::pair<std::string, nlohmann::json>> events;
  int status = 0;  // of HTTP; 0 = the connection broke

  std::vector<nlohmann::json> Of(const std::string& name) const;
};

// A home with a scripted provider for each suite: a1 has every core tool, the tool kv and the models obey and paced:20; a2 may only read.
class TalkHome : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

  static Said Say(const nlohmann::json& body, const std::string& agent = "a1", int limit = 60);  // seconds that the client stays
  static std::string Call(const std::string& name, const nlohmann::json& arguments) { return "CALL " + name + " " + arguments.dump(); }
  static nlohmann::json Show(const std::string& session);
  static std::string File(const std::string& session);  // as it is on disk
  // kill -9, and back again with the sandbox of a1.
  static void KillGateway();
  static void AwaitGateway(pid_t before);

  static Home* home_;
  static llm::Upstream* upstream_;
};

}  // namespace beige::e2e

#endif
