#include "hub/names.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/utf8.h"

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

// How many bytes the UTF-8 character at the beginning of `text` has; 0 if there is none.
std::size_t character_bytes(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t size = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
    if (size > text.size()) return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
    }
    if (size < 3) return size;
    // Forms that are too long, halves of surrogate pairs, and what lies beyond Unicode.
    const auto second = static_cast<unsigned char>(text[1]);
    const bool bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
    return bad ? 0 : size;
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
    if (!is_utf8(key)) {  // it is delivered as text
        return Error{ErrorCode::invalid_argument,
                     fmt::format("partition key '{}' is not valid UTF-8", shown(key))};
    }
    // Every byte that does not continue a character begins one.
    const auto characters = std::count_if(key.begin(), key.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    });
    if (characters > static_cast<std::ptrdiff_t>(partition_key_characters_max)) {
        return Error{
            ErrorCode::invalid_argument,
            fmt::format("partition key '{}' has {} bytes; at most {} characters are allowed",
                        shown(key), key.size(), partition_key_characters_max)};
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
    std::string result;
    while (!name.empty()) {
        const std::size_t size = character_bytes(name);
        const std::size_t taken = std::max<std::size_t>(size, 1);
        if (result.size() + taken > bytes_max) return result + "...";
        const bool control = static_cast<unsigned char>(name[0]) < 0x20 || name[0] == 0x7f;
        result += size == 0 || control ? "?" : name.substr(0, size);
        name.remove_prefix(taken);
    }
    return result;
}

}  // namespace evenkeel::hub
