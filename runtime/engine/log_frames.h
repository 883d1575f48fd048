#ifndef BEIGE_RUNTIME_ENGINE_LOG_FRAMES_H_
#define BEIGE_RUNTIME_ENGINE_LOG_FRAMES_H_

#include <string>
#include <string_view>

namespace beige::runtime::engine {

// The text of a container's log without the engine's frames: each is one byte of stream (1 stdout, 2 stderr), three zero bytes, the length as
// four bytes, big endian, and that many bytes. A cut last frame gives what is there; bytes that are no frames come back as they are.
std::string JoinLogFrames(std::string_view framed);

}  // namespace beige::runtime::engine

#endif
