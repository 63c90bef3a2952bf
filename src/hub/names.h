// Which names event hubs and consumer groups may have. Names are compared without regard to case,
// and never become part of a path.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel::hub {

inline constexpr std::size_t event_hub_name_bytes_max = 256;
inline constexpr std::size_t group_name_bytes_max = 50;
inline constexpr std::size_t partition_key_characters_max = 128;
inline constexpr std::string_view default_group = "$Default";

// Letters, digits, '.', '-', '_' and '/', begins and ends with a letter or digit.
Result<> check_event_hub_name(std::string_view name);
// The same without '/', or "$Default".
Result<> check_group_name(std::string_view name);
Result<> check_partition_key(std::string_view key);

// For comparing: ASCII letters in lower case.
std::string folded(std::string_view name);
// For messages: at most 64 bytes of it, whole UTF-8, with control characters and stray bytes
// replaced.
std::string shown(std::string_view name);

}  // namespace evenkeel::hub
