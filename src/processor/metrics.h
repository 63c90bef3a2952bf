// What a processor knows about itself, as text for Prometheus. Pure.
#pragma once

#include <string>

#include <evenkeel/processor.h>

namespace evenkeel::processor {

// Labels are the event hub, the group, and for what belongs to one of them the partition.
std::string metrics_text(const ProcessorStatus& status, const std::string& event_hub,
                         const std::string& group);

}  // namespace evenkeel::processor
