#include "base/secret.h"

#include <openssl/crypto.h>

namespace beige {

bool Secret::EqualsConstantTime(const std::string& other) const {
  return value_.size() == other.size() && CRYPTO_memcmp(value_.data(), other.data(), other.size()) == 0;
}

void Secret::Wipe() {
  if (!value_.empty()) OPENSSL_cleanse(value_.data(), value_.size());
  value_.clear();
}

}  // namespace beige
