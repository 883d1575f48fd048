#include "base/random.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>

namespace beige {

std::string RandomBytes(size_t n) {
  std::string bytes(n, '\0');
  // Without randomness no key, token or id is safe; there is nothing to fall back to.
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(n)) != 1) std::abort();
  return bytes;
}

std::string HexEncode(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    hex += kDigits[b >> 4];
    hex += kDigits[b & 15];
  }
  return hex;
}

std::string RandomUuid() {
  std::string b = RandomBytes(16);
  b[6] = static_cast<char>((b[6] & 0x0f) | 0x40);
  b[8] = static_cast<char>((b[8] & 0x3f) | 0x80);
  const std::string h = HexEncode(b);
  return h.substr(0, 8) + "-" + h.substr(8, 4) + "-" + h.substr(12, 4) + "-" + h.substr(16, 4) + "-" + h.substr(20);
}

std::string RandomUlid() {
  static constexpr char kAlphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  // A pool per thread: one RAND_bytes call serves many ids on the call path.
  thread_local std::string pool;
  if (pool.size() < 16) pool = RandomBytes(1024);
  auto ms = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
  std::string id(26, '0');
  for (size_t i = 10; i-- > 0; ms >>= 5) id[i] = kAlphabet[ms & 31];
  for (size_t i = 10; i < 26; ++i) {
    id[i] = kAlphabet[static_cast<unsigned char>(pool.back()) & 31];
    pool.pop_back();
  }
  return id;
}

std::string Base64Encode(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int n = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                                static_cast<int>(bytes.size()));
  out.resize(static_cast<size_t>(n));
  return out;
}

Result<std::string> Base64Decode(std::string_view text) {
  if (text.size() % 4 != 0) return Fail(Code::kInvalid, "want base64 with padding, got " + std::to_string(text.size()) + " characters");
  // OpenSSL skips white space at either end, and takes "=" anywhere.
  const size_t end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
  if (end != std::string_view::npos && (text.size() - end > 2 || text.find_first_not_of('=', end) != std::string_view::npos)) return Fail(Code::kInvalid, "want base64");
  std::string out(text.size() / 4 * 3, '\0');
  const int n = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (n < 0) return Fail(Code::kInvalid, "want base64");
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  out.resize(static_cast<size_t>(n) - padding);
  return out;
}

std::string RandomToken() {
  std::string text = Base64Encode(RandomBytes(32));
  while (!text.empty() && text.back() == '=') text.pop_back();
  for (char& c : text) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  return text;
}

namespace {
std::string Sha256(std::string_view data) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(data.data()), data.size(), reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}
}  // namespace

std::string Sha256Hex(std::string_view data) { return HexEncode(Sha256(data)); }

std::string ShortId(std::string_view data, size_t n) {
  static constexpr char kAlphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
  const std::string digest = Sha256(data);
  std::string id;
  unsigned acc = 0;
  int bits = 0;
  for (const char c : digest) {
    acc = (acc << 8) | static_cast<unsigned char>(c);
    bits += 8;
    while (bits >= 5 && id.size() < n) {
      bits -= 5;
      id += kAlphabet[(acc >> bits) & 31];
    }
  }
  return id;
}

}  // namespace beige
