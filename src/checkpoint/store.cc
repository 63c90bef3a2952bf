#include "checkpoint/store.h"

#include <algorithm>

namespace evenkeel::checkpoint {

GroupName lower_cased(GroupName name) {
    for (std::string* part : {&name.hub_namespace, &name.event_hub, &name.group}) {
        std::transform(part->begin(), part->end(), part->begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
    }
    return name;
}

}  // namespace evenkeel::checkpoint
