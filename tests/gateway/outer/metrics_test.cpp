#include "gateway/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace beige {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;
const AgentKey kAgent{"default", "a1"};

double ValueOf(const std::string& text, const std::string& series) {
  const size_t at = text.find("\n" + series + " ");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size() + 2));
}
}  // namespace

TEST(GatewayMetricsTest, CountsCallsWithTheirLabels) {
  GatewayMetrics metrics;
  metrics.CountToolCall(kAgent, "kv", "socket", "allow", "ok");
  metrics.CountToolCall(kAgent, "kv", "socket", "allow", "ok");
  metrics.CountToolCall(kAgent, "unknown", "socket", "deny", "denied");
  metrics.ObserveToolDuration("kv", 0.0007);
  metrics.CountExec(kAgent, "ok");
  metrics.AddLinkConnections(kAgent, 3);
  metrics.AddLinkConnections(kAgent, -1);
  metrics.SetAgents(1);
  const std::string text = metrics.Render();
  EXPECT_EQ(ValueOf(text, R"(beige_tool_calls_total{agent="a1",decision="allow",namespace="default",outcome="ok",surface="socket",tool="kv"})"), 2) << text;
  EXPECT_EQ(ValueOf(text, R"(beige_tool_calls_total{agent="a1",decision="deny",namespace="default",outcome="denied",surface="socket",tool="unknown"})"), 1);
  EXPECT_EQ(ValueOf(text, R"(beige_tool_call_duration_seconds_count{tool="kv"})"), 1);
  EXPECT_EQ(ValueOf(text, R"(beige_exec_total{agent="a1",namespace="default",outcome="ok"})"), 1);
  EXPECT_EQ(ValueOf(text, R"(beige_link_connections{agent="a1",namespace="default"})"), 2);
  EXPECT_EQ(ValueOf(text, "beige_agents"), 1);
}

TEST(GatewayMetricsTest, SeriesThatAreThereFromTheStartAreZero) {
  GatewayMetrics metrics;
  const std::string text = metrics.Render();
  EXPECT_EQ(ValueOf(text, "beige_audit_records_total"), 0);
  EXPECT_EQ(ValueOf(text, "beige_audit_write_failures_total"), 0);
  EXPECT_THAT(text, HasSubstr("beige_build_info{component=\"gateway\",version=\"" BEIGE_VERSION "\"} 1"));
  EXPECT_GT(ValueOf(text, "process_resident_memory_bytes"), 1e6);
  EXPECT_GE(ValueOf(text, "process_open_fds"), 3);
  EXPECT_GT(ValueOf(text, "process_start_time_seconds"), 1.6e9);
  EXPECT_GT(ValueOf(text, "process_cpu_seconds_total"), 0);
}

TEST(GatewayMetricsTest, SeriesOfARemovedAgentGoAwayAndOthersStay) {
  GatewayMetrics metrics;
  const AgentKey other{"team", "a1"};
  for (const AgentKey& agent : {kAgent, other}) {
    metrics.CountToolCall(agent, "kv", "socket", "allow", "ok");
    metrics.CountExec(agent, "ok");
    metrics.AddLinkConnections(agent, 1);
  }
  metrics.RemoveAgent(kAgent);
  std::string text = metrics.Render();
  EXPECT_THAT(text, Not(HasSubstr("namespace=\"default\"")));
  EXPECT_THAT(text, HasSubstr("namespace=\"team\""));
  metrics.CountExec(kAgent, "ok");  // comes again, from zero
  text = metrics.Render();
  EXPECT_EQ(ValueOf(text, R"(beige_exec_total{agent="a1",namespace="default",outcome="ok"})"), 1);
}

TEST(GatewayMetricsTest, CountingWhileRenderingAndRemovingLosesNothing) {
  GatewayMetrics metrics;
  const AgentKey steady{"default", "steady"};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        metrics.CountToolCall(steady, "kv", "socket", "allow", "ok");
        metrics.CountExec(kAgent, "ok");
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 50; ++i) {
      metrics.RemoveAgent(kAgent);
      (void)metrics.Render();
    }
  });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(ValueOf(metrics.Render(), R"(beige_tool_calls_total{agent="steady",decision="allow",namespace="default",outcome="ok",surface="socket",tool="kv"})"), 15000);
}

}  // namespace beige
