#ifndef BEIGE_TESTS_API_PROBLEMS_OF_H_
#define BEIGE_TESTS_API_PROBLEMS_OF_H_

#include <string>
#include <vector>

#include "api/load.h"

namespace beige {

inline std::vector<std::string> Texts(const std::vector<Problem>& problems) {
  std::vector<std::string> out;
  for (const Problem& problem : problems) out.push_back(problem.ToString());
  return out;
}

}  // namespace beige

#endif
