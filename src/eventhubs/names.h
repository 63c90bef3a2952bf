// Which names event hubs and consumer groups may have, and which partition keys are valid. Names
// are compared without regard to case, and never become part of a file path. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel::eventhubs {

inline constexpr std::size_t event_hub_name_bytes_max = 256;
inline constexpr std::size_t group_name_bytes_max = 50;
inline constexpr std::size_t partition_key_characters_max = 128;
inline constexpr std::string_view default_group = "$Default";

// Letters, digits, '.', '-', '_' and '/', begins and ends with a letter or digit.
Result<> check_event_hub_name(std::string_view name);
// The same without '/', or "$Default".
Result<> check_group_name(std::string_view name);
// Valid UTF-8 of up to 128 characters.
Result<> check_partition_key(std::string_view key);

// A name as it is compared: ASCII letters in lower case.
std::string folded(std::string_view name);

}  // namespace evenkeel::eventhubs
