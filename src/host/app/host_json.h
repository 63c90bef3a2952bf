// host.json as HostOptions. Old names of options are read first, so that new ones win. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "host/app.h"
#include "host/app/json_file.h"

namespace evenkeel::host {

// `warnings` gets what is not known here, or has no effect.
Result<HostOptions> parse_host_json(const JsonFile& file, std::vector<std::string>& warnings);

// A retry policy, of host.json or of a function: `invalid_argument` if a member that its strategy
// needs is missing. None if the place is empty.
Result<std::optional<RetryRule>> parse_retry(const JsonPlace& place);

}  // namespace evenkeel::host
