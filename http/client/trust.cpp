#include "http/client/trust.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <cstdlib>

#include "base/files.h"
#include "base/random.h"

namespace beige::http::client {
namespace {
// Debian, Fedora, SUSE, Alpine.
constexpr const char* kBundles[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
constexpr size_t kMaxBundle = 8u << 20;

std::string SystemBundle() {
  if (const char* named = std::getenv("SSL_CERT_FILE"); named != nullptr && *named != '\0') return named;
  for (const char* file : kBundles) {
    if (Exists(file)) return file;
  }
  return kBundles[0];
}
}  // namespace

Result<std::shared_ptr<const Trust>> Trust::Parse(std::string_view pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  std::shared_ptr<const Trust> trust(new Trust(X509_STORE_new(), Sha256Hex(pem)));
  int count = 0;
  for (;;) {
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), X509_free);
    if (!certificate) break;
    X509_STORE_add_cert(trust->store_, certificate.get());
    ++count;
  }
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!at_end) return Fail(Code::kInvalid, "certificate " + std::to_string(count + 1) + " is broken");
  if (count == 0) return Fail(Code::kInvalid, "no certificate in it");
  return trust;
}

Result<std::shared_ptr<const Trust>> Trust::Load(const std::string& file) {
  const std::string path = file.empty() ? SystemBundle() : file;
  BEIGE_ASSIGN(const std::string pem, ReadFile(path, kMaxBundle));
  auto trust = Parse(pem);
  if (!trust) return FailIn(path, trust.error());
  return trust;
}

Trust::~Trust() { X509_STORE_free(store_); }

int Trust::Install(void*, void* ssl_context, void* trust) {
  auto* const self = static_cast<Trust*>(trust);
  if (self != nullptr) SSL_CTX_set1_cert_store(static_cast<SSL_CTX*>(ssl_context), self->store_);
  return 0;  // CURLE_OK
}

}  // namespace beige::http::client
