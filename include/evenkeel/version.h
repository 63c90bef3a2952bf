// Which version a program was compiled with, and which one it runs with.
//
// Until 1.0 programs must be compiled again for each minor version; the shared library's name says
// so.
#pragma once

#include <string_view>

#define EVENKEEL_VERSION_MAJOR 0
#define EVENKEEL_VERSION_MINOR 1
#define EVENKEEL_VERSION_PATCH 0
#define EVENKEEL_VERSION_STRING "0.1.0"
// For comparisons: 1.2.3 is 10203.
#define EVENKEEL_VERSION_NUMBER \
    (EVENKEEL_VERSION_MAJOR * 10000 + EVENKEEL_VERSION_MINOR * 100 + EVENKEEL_VERSION_PATCH)

namespace evenkeel {

// Of the library that runs: "0.1.0".
std::string_view version();

}  // namespace evenkeel
