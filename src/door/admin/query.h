// The query of a request: "a=1&b=x%20y" by name.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel::door {

// Names and values decoded, '+' as a space. invalid_argument names a bad escape, a name that is
// there twice, and one that is not among `known`.
Result<std::map<std::string, std::string>> parse_query(
    std::string_view query, std::initializer_list<std::string_view> known);

}  // namespace evenkeel::door
