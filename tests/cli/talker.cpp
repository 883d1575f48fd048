#include "talker.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace beige::testing {

Talker::Talker() : server_({StandIn("talking/beige-gateway"), "--home", home_.path()}) {
  home_.Write("agents.d/a1.yaml", AgentText("a1"));
  home_.WriteStatus(ReadyAgent("a1"));
  EXPECT_TRUE(server_.AwaitOutput("ready"));
}

std::vector<std::string> Talker::Requests(const std::string& what) const {
  std::vector<std::string> bodies;
  std::istringstream lines(home_.Read("requests.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto request = nlohmann::json::parse(line);
    const std::string name = request["method"].get<std::string>() + " " + request["path"].get<std::string>();
    if (name.starts_with(what)) bodies.push_back(request["body"].dump());
  }
  return bodies;
}

}  // namespace beige::testing
