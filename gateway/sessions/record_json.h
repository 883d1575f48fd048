#ifndef BEIGE_GATEWAY_SESSIONS_RECORD_JSON_H_
#define BEIGE_GATEWAY_SESSIONS_RECORD_JSON_H_

#include <nlohmann/json_fwd.hpp>

#include "gateway/sessions/record.h"

namespace beige::sessions {

// The record's own fields as they stand in the file, "type" first.
nlohmann::ordered_json RecordJson(const Record& record);

}  // namespace beige::sessions

#endif
