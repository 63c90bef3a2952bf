// Where events go, as a caller may say it.
#pragma once

#include "base/result.h"
#include "eventhubs/names.h"
#include <evenkeel/hub.h>

namespace evenkeel::producer {

// A partition, a key, or neither.
inline Result<> check_route(const Route& route) {
    if (route.partition && !route.partition_key.empty()) {
        return Error{ErrorCode::invalid_argument,
                     "events go to a partition or to the one of their key; give one of the two"};
    }
    return eventhubs::check_partition_key(route.partition_key);
}

}  // namespace evenkeel::producer
