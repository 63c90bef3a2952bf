// The programs that run Python and Node functions, which are part of ours: the text of
// src/host/shim/python_shim.py and src/host/shim/node_shim.js.
#pragma once

#include <string_view>

namespace evenkeel::host {

std::string_view python_shim();
std::string_view node_shim();

}  // namespace evenkeel::host
