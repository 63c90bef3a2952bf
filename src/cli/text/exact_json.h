// JSON whose numbers are read exactly. Boost.JSON 1.81 rounds many decimal fractions to the double
// beside the nearest one, so that a number that is read and sent again would change. Pure.
#pragma once

#include <string_view>

#include "base/result.h"

namespace boost::json {
class value;
}

namespace evenkeel::cli {

// One JSON text. `invalid_argument` says what is wrong with it.
Result<boost::json::value> parse_json(std::string_view text);

}  // namespace evenkeel::cli
