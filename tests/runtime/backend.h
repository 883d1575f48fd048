#ifndef BEIGE_TESTS_RUNTIME_BACKEND_H_
#define BEIGE_TESTS_RUNTIME_BACKEND_H_

#include <memory>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/sandbox.h"

namespace beige::runtime {

// One kind of runtime under the suite, and what people and kernels do to its sandboxes behind its back.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual SandboxRuntime& runtime() = 0;

  virtual void Kill(const std::string& id) = 0;
  virtual void Pause(const std::string& id) = 0;
  virtual void RemoveByHand(const std::string& id) = 0;
  virtual void RenameByHand(const std::string& id, const std::string& name) = 0;
  // A container that Beige did not make, with this name and these labels; its id. Gone with the backend.
  virtual std::string AddForeign(const std::string& name, const std::map<std::string, std::string>& labels) = 0;
  virtual std::vector<std::string> Bridges(const std::string& home) = 0;
  virtual std::string EngineType() const { return "docker"; }
};

struct BackendKind {
  const char* name;
  std::unique_ptr<Backend> (*make)();
};
inline std::ostream& operator<<(std::ostream& out, const BackendKind& kind) { return out << kind.name; }

inline constexpr char kBusybox[] = "localhost/busybox:test";
inline constexpr char kEmptyImage[] = "localhost/empty:test";
inline constexpr char kVolumeImage[] = "localhost/volume:test";

}  // namespace beige::runtime

#endif
