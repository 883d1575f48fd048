#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"

namespace beige {
namespace {
// spdlog is the one process-wide registry that a logger needs; nothing else of ours is global.
bool text_form = false;
std::string component_name = "beige";

spdlog::level::level_enum LevelOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::string_view NameOf(LogLevel level) {
  static constexpr std::string_view kNames[] = {"debug", "info", "warn", "error"};
  return kNames[static_cast<int>(level)];
}
}  // namespace

void InitLog(std::string component, LogLevel level) {
  component_name = std::move(component);
  text_form = ::isatty(STDERR_FILENO) == 1;
  auto logger = spdlog::stderr_logger_mt("beige");
  logger->set_pattern("%v");
  logger->set_level(LevelOf(level));
  logger->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
}

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  spdlog::logger* logger = spdlog::default_logger_raw();
  if (!logger->should_log(LevelOf(level))) return;
  nlohmann::ordered_json line;
  line["ts"] = FormatTime(std::chrono::system_clock::now());
  line["level"] = NameOf(level);
  line["component"] = component_name;
  line["msg"] = message;
  for (const auto& [key, value] : fields) line[std::string(key)] = value;
  // spdlog's own escaping of %v is none (a newline in a value would start a forged line), so the JSON is made here.
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  if (!text_form) {
    logger->log(LevelOf(level), "{}", line.dump(-1, ' ', false, kReplace));
    return;
  }
  std::string text = line["ts"].get<std::string>() + " " + std::string(NameOf(level)) + " " + std::string(message);
  for (const auto& [key, value] : fields) text += " " + std::string(key) + "=" + line[std::string(key)].dump(-1, ' ', false, kReplace);
  logger->log(LevelOf(level), "{}", text);
}

}  // namespace beige
