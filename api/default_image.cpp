#include "api/default_image.h"

#include <cstdlib>

#include "base/files.h"

namespace beige {

std::string DefaultImage(const OperatorConfig& config) {
  return config.default_image.empty() ? std::string("localhost/beige-sandbox:") + BEIGE_VERSION : config.default_image;
}

std::vector<std::string> DefaultImageFiles() {
  const std::string name = std::string("beige-sandbox-") + BEIGE_VERSION + ".tar";
  std::vector<std::string> files;
  if (const char* said = std::getenv("BEIGE_IMAGE_TAR"); said != nullptr && *said != '\0') files.push_back(said);
  for (const char* place : {"", "../image", "../../image", "../share/beige"}) files.push_back(JoinPath(AbsolutePath(ExecutableDir(), place), name));
  return files;
}

}  // namespace beige
