#ifndef BEIGE_API_UTF8_H_
#define BEIGE_API_UTF8_H_

#include <string_view>

namespace beige {

// Offset of the first byte that is not part of well-formed UTF-8 (no overlong forms, no surrogates); npos when there is none.
size_t FindInvalidUtf8(std::string_view text);

// Where the character that covers offset `at` of well-formed text begins: a cut there parts none. The text's end when `at` is behind it.
size_t CharacterStart(std::string_view text, size_t at);

}  // namespace beige

#endif
