// "Why is this partition here?" in sentences: who owns it, whence it came, what the shares are, and
// why it stays or where it goes next. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dashboard/group_view.h"

namespace evenkeel::dashboard {

// None if there is no such partition.
std::vector<std::string> explain(const GroupView& view, std::uint32_t partition);

}  // namespace evenkeel::dashboard
