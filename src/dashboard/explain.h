// "Why is this partition here?" in sentences: whence it came and what that cost, and why it stays
// or where it goes next. Without times of day, which a reader wants in a zone of his own. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dashboard/group_view.h"

namespace evenkeel::dashboard {

// None if there is no such partition.
std::vector<std::string> explain(const GroupView& view, std::uint32_t partition);

}  // namespace evenkeel::dashboard
