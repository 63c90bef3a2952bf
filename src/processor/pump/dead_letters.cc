#include "processor/pump/dead_letters.h"

#include "eventhubs/forward.h"

namespace evenkeel::processor {
namespace {

// So that a long cause leaves room for the event.
constexpr std::size_t cause_bytes_max = 1024;

}  // namespace

void HubDeadLetters::put(const checkpoint::DeadLetter& letter, Callback<void(Result<>)> done) {
    const std::string_view cause = std::string_view(letter.cause).substr(0, cause_bytes_max);
    const Property properties[] = {
        {"evenkeel-cause", cause},
        {"evenkeel-attempts", std::int64_t{letter.attempts}},
        {"evenkeel-hub", std::string_view(event_hub_)},
        {"evenkeel-group", std::string_view(group_)},
        {"evenkeel-partition", std::int64_t{letter.partition.value}},
        {"evenkeel-sequence", letter.sequence.value},
        {"evenkeel-offset", std::string_view(letter.offset)},
        {"evenkeel-enqueued-ms", letter.enqueued_ms},
        {"evenkeel-at-ms", letter.at_ms},
    };
    outlet_.send(eventhubs::with_properties(letter.sections, properties), letter.partition_key,
                 lifetime_.guard([this, letter, done = std::move(done)](Result<> sent) mutable {
                     if (!sent.ok() && sent.error().code == ErrorCode::invalid_argument) {
                         return stored_.put(letter, std::move(done));
                     }
                     done(std::move(sent));
                 }));
}

}  // namespace evenkeel::processor
