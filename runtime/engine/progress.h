#ifndef BEIGE_RUNTIME_ENGINE_PROGRESS_H_
#define BEIGE_RUNTIME_ENGINE_PROGRESS_H_

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace beige::runtime::engine {

// Cuts a byte stream into lines of at most `limit` bytes; a longer line is an error (Internal). Empty lines are left out.
class LineSplitter {
 public:
  explicit LineSplitter(size_t limit = 1u << 20) : limit_(limit) {}
  Result<> Feed(std::string_view bytes, const std::function<Result<>(std::string_view)>& on_line);
  Result<> End(const std::function<Result<>(std::string_view)>& on_line);  // a last line without its newline

 private:
  size_t limit_;
  std::string pending_;
};

// Reads what pull, load and build send under a status of 200: JSON lines of progress, and among them the errors, which have no status.
class ProgressReader {
 public:
  explicit ProgressReader(std::function<void(const std::string&)> on_line) : on_line_(std::move(on_line)) {}
  // Unavailable for an error line, NotFound for one that says that the image does not exist.
  Result<> Feed(std::string_view bytes);
  Result<> End();

 private:
  Result<> Line(std::string_view line);
  std::function<void(const std::string&)> on_line_;
  LineSplitter splitter_;
};

}  // namespace beige::runtime::engine

#endif
