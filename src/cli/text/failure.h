// What went wrong inside an event processor, as a line for its operator.
#pragma once

#include <string>

#include <evenkeel/processor.h>

namespace evenkeel::cli {

// "partition 3: checkpoint: unavailable: ... (again in 0.4 s)".
std::string to_line(const Failure& failure);

}  // namespace evenkeel::cli
