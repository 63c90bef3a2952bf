// Words that were probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evenkeel {

// The one of `words` that is almost `word`: two letters more, less, other or swapped, or one in a
// short word. Empty if none.
std::string nearest(std::string_view word, const std::vector<std::string>& words);

}  // namespace evenkeel
