#include "checkpoint/store.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace evenkeel::checkpoint {

GroupName lower_cased(GroupName name) {
    for (std::string* part : {&name.hub_namespace, &name.event_hub, &name.group}) {
        *part = lower_case(*part);
    }
    return name;
}

Result<> check(const Record& record) {
    const auto is_good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
    };
    const std::string& key = record.key;
    if (key.empty() || key.size() > record_key_bytes_max ||
        !std::all_of(key.begin(), key.end(), is_good)) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("record '{}': a key has 1 to {} of a-z, 0-9, '-', '.' and '/'",
                                 key.substr(0, record_key_bytes_max), record_key_bytes_max)};
    }
    if (record.value.size() <= record_value_bytes_max) return {};
    return Error{ErrorCode::invalid_argument,
                 fmt::format("record '{}': {} bytes are more than the {} that one may have", key,
                             record.value.size(), record_value_bytes_max)};
}

}  // namespace evenkeel::checkpoint
