#ifndef BEIGE_API_SUGGEST_H_
#define BEIGE_API_SUGGEST_H_

#include <string>
#include <string_view>
#include <vector>

namespace beige {

// The candidate that `word` was probably meant to be, by edit distance (a swap of neighbours counts once); "" when none is near.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace beige

#endif
