// The bindings of one function as a Function: from its function.json, or as its interpreter lists
// them. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/app.h"
#include "host/app/json_file.h"
#include "host/app/settings.h"

namespace evenkeel::host {

// None if it has no event hub trigger, which is a warning. `place` has the members of
// function.json. The settings that its bindings name must be there, unless it is disabled.
Result<std::optional<Function>> parse_function(const std::string& name, const JsonPlace& place,
                                               const Settings& settings, const HostOptions& options,
                                               std::vector<std::string>& warnings);

}  // namespace evenkeel::host
