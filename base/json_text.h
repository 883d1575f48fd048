#ifndef BEIGE_BASE_JSON_TEXT_H_
#define BEIGE_BASE_JSON_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace beige {

// Writers of JSON text for hot paths, where building a document first would cost more than the rest of the work.

// `text` as a JSON string with its quotes. Control characters are escaped, so no value can forge a line; invalid UTF-8 becomes U+FFFD,
// one for each maximal invalid part (as nlohmann's error_handler_t::replace does).
void AppendJsonString(std::string& out, std::string_view text);

// Whether lists and objects stand in one another more than `most` deep. For text that a JSON parser has taken or is about to: parsers of
// the usual library read any depth, but copy and print by recursion, so a deep document ends the process.
bool JsonDeeperThan(std::string_view text, int most);

void AppendNumber(std::string& out, int64_t value);
void AppendUnsigned(std::string& out, uint64_t value);

}  // namespace beige

#endif
