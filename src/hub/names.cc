#include "hub/names.h"

#include <algorithm>

#include <fmt/core.h>

namespace evenkeel::hub {
namespace {

bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

Result<> check_name(std::string_view what, std::string_view name, std::size_t bytes_max,
                    std::string_view also_allowed) {
    if (name.empty()) {
        return Error{ErrorCode::invalid_argument, fmt::format("{} has no name; give it one", what)};
    }
    if (name.size() > bytes_max) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("{} name '{}' has {} characters; at most {} are allowed", what,
                                 shown(name), name.size(), bytes_max)};
    }
    const bool known = std::all_of(name.begin(), name.end(), [&](char c) {
        return is_alphanumeric(c) || also_allowed.find(c) != std::string_view::npos;
    });
    if (!known || !is_alphanumeric(name.front()) || !is_alphanumeric(name.back())) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("{} name '{}' is not allowed; use letters, digits and '{}', "
                                 "beginning and ending with a letter or digit",
                                 what, shown(name), also_allowed)};
    }
    return {};
}

}  // namespace

Result<> check_event_hub_name(std::string_view name) {
    return check_name("event hub", name, event_hub_name_bytes_max, ".-_/");
}

Result<> check_group_name(std::string_view name) {
    if (folded(name) == folded(default_group)) return {};
    return check_name("consumer group", name, group_name_bytes_max, ".-_");
}

Result<> check_partition_key(std::string_view key) {
    // UTF-8: every byte that does not continue a character begins one.
    const auto characters = std::count_if(key.begin(), key.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    });
    if (characters > static_cast<std::ptrdiff_t>(partition_key_characters_max)) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("partition key '{}' has {} characters; at most {} are allowed",
                                 shown(key), characters, partition_key_characters_max)};
    }
    return {};
}

std::string folded(std::string_view name) {
    std::string result(name);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

std::string shown(std::string_view name) {
    constexpr std::size_t bytes_max = 64;
    std::string result(name.substr(0, bytes_max));
    for (char& c : result) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    }
    if (name.size() > bytes_max) result += "...";
    return result;
}

}  // namespace evenkeel::hub
