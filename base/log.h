#ifndef BEIGE_BASE_LOG_H_
#define BEIGE_BASE_LOG_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace beige {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

// Process log on stderr (the supervisor writes it to logs/): one JSON object a line, or plain text when stderr is a terminal.
//   {"ts":"...","level":"info","component":"operator","msg":"sandbox created","agent":"default/a1"}
// Called once by main; thread-safe after that.
void InitLog(std::string component, LogLevel level);

using LogField = std::pair<std::string_view, std::string_view>;
// Values are escaped and invalid UTF-8 is replaced, so that no value can forge a line.
void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

inline void LogInfo(std::string_view message, std::initializer_list<LogField> fields = {}) { Log(LogLevel::kInfo, message, fields); }
inline void LogWarn(std::string_view message, std::initializer_list<LogField> fields = {}) { Log(LogLevel::kWarn, message, fields); }
inline void LogError(std::string_view message, std::initializer_list<LogField> fields = {}) { Log(LogLevel::kError, message, fields); }
inline void LogDebug(std::string_view message, std::initializer_list<LogField> fields = {}) { Log(LogLevel::kDebug, message, fields); }

}  // namespace beige

#endif
