#ifndef BEIGE_GATEWAY_SESSIONS_COMPACTION_TEXT_H_
#define BEIGE_GATEWAY_SESSIONS_COMPACTION_TEXT_H_

#include <string>
#include <vector>

#include "gateway/llm/model.h"

namespace beige::sessions {

// The conversation as one text of at most `limit` bytes, whose middle is left out beyond. Results are cut to what a summary needs.
std::string Narrate(const std::vector<llm::MessageRef>& messages, size_t limit);

}  // namespace beige::sessions

#endif
