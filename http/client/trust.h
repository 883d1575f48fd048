#ifndef BEIGE_HTTP_CLIENT_TRUST_H_
#define BEIGE_HTTP_CLIENT_TRUST_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

struct x509_store_st;

namespace beige::http::client {

// The certificates that a server's chain must end in, parsed once and held in memory: a new connection costs no reading and no parsing
// (the usual bundle takes 10 ms), and no file is needed after the start. Immutable, thread-safe.
class Trust {
 public:
  // Invalid when there is no certificate in it or one is broken.
  static Result<std::shared_ptr<const Trust>> Parse(std::string_view pem);
  // "" = SSL_CERT_FILE of the environment, else the system's bundle.
  static Result<std::shared_ptr<const Trust>> Load(const std::string& file);

  ~Trust();
  Trust(const Trust&) = delete;
  Trust& operator=(const Trust&) = delete;

  const std::string& fingerprint() const { return fingerprint_; }  // of the text that it was made of

  // libcurl's CURLOPT_SSL_CTX_FUNCTION; `trust` may be nullptr: nobody is trusted then.
  static int Install(void* curl, void* ssl_context, void* trust);

 private:
  Trust(x509_store_st* store, std::string fingerprint) : store_(store), fingerprint_(std::move(fingerprint)) {}
  x509_store_st* const store_;
  const std::string fingerprint_;
};

}  // namespace beige::http::client

#endif
