#include "processor/metrics.h"

#include <algorithm>

#include "base/metrics.h"

namespace evenkeel::processor {

std::string metrics_text(const ProcessorStatus& status, const std::string& event_hub,
                         const std::string& group) {
    Metrics metrics;
    const auto count = [&](const char* name, const char* help, std::uint64_t value) {
        metrics.counter(name, help, {{"hub", event_hub}, {"group", group}}).add(value);
    };
    const auto gauge = [&](const char* name, const char* help, std::size_t value) {
        metrics.gauge(name, help, {{"hub", event_hub}, {"group", group}})
            .set(static_cast<std::int64_t>(value));
    };
    count("evenkeel_processor_events_handled_total", "Events whose handler has ended well.",
          status.events_handled);
    count("evenkeel_processor_dead_letters_total", "Events that were dead-lettered.",
          status.dead_letters);
    count("evenkeel_processor_claims_total", "Partitions that were claimed.", status.claims);
    count("evenkeel_processor_received_total", "Partitions that others handed over to this one.",
          status.received);
    count("evenkeel_processor_handed_over_total", "Partitions that were handed over to others.",
          status.handed_over);
    count("evenkeel_processor_lost_total", "Partitions that others took.", status.lost);
    gauge("evenkeel_processor_partitions", "Partitions that this instance owns.",
          status.partitions.size());
    gauge("evenkeel_processor_members", "Instances in the group.", status.members);
    gauge("evenkeel_processor_balanced", "1: no partition is to move.", status.is_balanced ? 1 : 0);
    for (const PartitionStatus& each : status.partitions) {
        const std::string partition = std::to_string(each.partition);
        const auto of_partition = [&](const char* name, const char* help, std::int64_t value) {
            metrics
                .gauge(name, help, {{"hub", event_hub}, {"group", group}, {"partition", partition}})
                .set(value);
        };
        const auto count_of = [&](const char* name, const char* help, std::uint64_t value) {
            metrics
                .counter(name, help,
                         {{"hub", event_hub}, {"group", group}, {"partition", partition}})
                .add(value);
        };
        of_partition("evenkeel_processor_handled_sequence", "Last event that was handled.",
                     each.handled_sequence);
        of_partition("evenkeel_processor_checkpoint_sequence", "Last event that is stored as done.",
                     each.checkpoint_sequence);
        if (each.last_enqueued_sequence >= 0) {
            of_partition(
                "evenkeel_processor_lag_events", "Events behind the last handled one.",
                std::max<std::int64_t>(0, each.last_enqueued_sequence - each.handled_sequence));
        }
        count_of("evenkeel_processor_partition_events_handled_total",
                 "Events whose handler has ended well, since the partition was gained.",
                 each.events_handled);
        count_of("evenkeel_processor_partition_failures_total",
                 "Calls of the handler that failed, since the partition was gained.",
                 each.failures);
        count_of("evenkeel_processor_partition_dead_letters_total",
                 "Events that were dead-lettered, since the partition was gained.",
                 each.dead_letters);
    }
    return metrics.to_text();
}

}  // namespace evenkeel::processor
