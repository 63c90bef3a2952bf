// Whether the consumer group that a source reads in exists, asked once before reading begins.
// Without it each reader would be refused for ever: a misspelt group looks like a slow hub.
//
// Threads: those of the source; answers as it does.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/task.h"
#include "source/source.h"

namespace evenkeel::source {

// `group` is the one that `source` was opened with. Answers `not_found`, with the command that
// creates the group, if the event hub has none of that name, and `not_allowed` if the credentials
// may not read in it. Every other failure is not the group's and counts as success: an exclusive
// reader, a used-up number of readers, or a damaged partition is left to those who read.
// The source outlives the answer.
void check_group(Source& source, std::string_view group, Callback<void(Result<>)> answer);

}  // namespace evenkeel::source
