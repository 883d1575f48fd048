#ifndef BEIGE_TESTS_GATEWAY_LLM_UPSTREAM_H_
#define BEIGE_TESTS_GATEWAY_LLM_UPSTREAM_H_

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace beige::llm {

// The scripted provider upstream/upstream.py as a child; it ends with this.
class Upstream {
 public:
  explicit Upstream(std::vector<std::string> arguments = {});
  ~Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  int port() const { return port_; }
  nlohmann::json Stats() const;
  void Reset() const;

 private:
  std::string Get(const std::string& path) const;

  pid_t pid_ = -1;
  UniqueFd stdin_;
  int port_ = 0;
};

// A certificate authority, and a server's certificate for 127.0.0.1 that it has signed. Files of PEM in `directory`.
struct TestCertificates {
  std::string ca, certificate, key;
};
TestCertificates MakeCertificates(const std::string& directory);

}  // namespace beige::llm

#endif
