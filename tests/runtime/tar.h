#ifndef BEIGE_TESTS_RUNTIME_TAR_H_
#define BEIGE_TESTS_RUNTIME_TAR_H_

#include <cstdio>
#include <cstring>
#include <string>

namespace beige::runtime {

// A tar (ustar) with one file in it.
inline std::string TarOf(const std::string& name, const std::string& content) {
  std::string header(512, '\0');
  const auto put = [&](size_t at, const std::string& text) { std::memcpy(header.data() + at, text.data(), text.size()); };
  char size[13];
  std::snprintf(size, sizeof size, "%011zo", content.size());
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, size);
  put(136, "00000000000");
  put(148, "        ");
  header[156] = '0';
  put(257, "ustar");
  put(263, "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  char text[8];
  std::snprintf(text, sizeof text, "%06o", sum);
  put(148, std::string(text, 7));
  std::string out = header + content;
  out.resize((out.size() + 511) / 512 * 512 + 1024, '\0');
  return out;
}

}  // namespace beige::runtime

#endif
