#ifndef BEIGE_BASE_RESULT_H_
#define BEIGE_BASE_RESULT_H_

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace beige {

// The closed set of reasons for which the world says no. The decision to retry is made from the code, never from the text.
enum class Code { kInvalid, kNotFound, kConflict, kDenied, kUnavailable, kTimeout, kExhausted, kInternal };

std::string_view CodeName(Code code);  // "Invalid", "NotFound", ...

// True for errors that may pass by themselves: Unavailable, Timeout, Conflict, Exhausted.
bool IsRetryable(Code code);

struct Error {
  Code code = Code::kInternal;
  std::string message;  // for a person: field, value, what was wanted, where

  bool operator==(const Error&) const = default;
};

template <typename T = void>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(Code code, std::string message) {
  return tl::make_unexpected(Error{code, std::move(message)});
}

// Puts what was being done before the message: "create container beige-x: connection refused". Used once per layer crossed.
inline tl::unexpected<Error> FailIn(std::string_view doing, Error error) {
  return tl::make_unexpected(Error{error.code, std::string(doing) + ": " + error.message});
}

// errno as an Error: "open /a/b: No such file or directory".
tl::unexpected<Error> FailErrno(int err, std::string_view doing);

}  // namespace beige

// Returns the error of `expr` from the calling function, else goes on.
#define BEIGE_TRY(expr)                                     \
  do {                                                      \
    if (auto beige_r_ = (expr); !beige_r_) {                \
      return tl::make_unexpected(std::move(beige_r_.error())); \
    }                                                       \
  } while (false)

#define BEIGE_CONCAT_INNER(a, b) a##b
#define BEIGE_CONCAT(a, b) BEIGE_CONCAT_INNER(a, b)
// BEIGE_ASSIGN(auto x, F()): x is the value, or the error is returned.
#define BEIGE_ASSIGN(decl, expr) BEIGE_ASSIGN_INNER(BEIGE_CONCAT(beige_res_, __LINE__), decl, expr)
#define BEIGE_ASSIGN_INNER(tmp, decl, expr)              \
  auto tmp = (expr);                                     \
  if (!tmp) {                                            \
    return tl::make_unexpected(std::move(tmp.error()));  \
  }                                                      \
  decl = std::move(*tmp)

#endif
