#ifndef BEIGE_RUNTIME_ENGINE_ERRORS_H_
#define BEIGE_RUNTIME_ENGINE_ERRORS_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace beige::runtime::engine {

// The engine's words in an error body: {"message": "..."} (Podman adds "cause"), else the body itself, cut to 500 bytes.
std::string ErrorText(std::string_view body);

// Which of our codes a status above 399 is. Podman says 500 where Docker says 409, so a 500 is told apart by its text.
Code CodeOfStatus(int status, std::string_view text);

}  // namespace beige::runtime::engine

#endif
