#include "checkpoint/dead_letter.h"

#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"
#include "base/time_point.h"

namespace evenkeel::checkpoint {

DeadLetterId id_of(const DeadLetter& letter) {
    return {letter.partition, letter.sequence};
}

std::string to_string(const DeadLetterId& id) {
    return fmt::format("{}/{}", id.partition.value, id.sequence.value);
}

Result<DeadLetterId> parse_letter_id(std::string_view text) {
    const auto slash = text.find('/');
    const auto partition = parse_number<std::uint32_t>(text.substr(0, slash));
    const std::int64_t sequence =
        slash == std::string_view::npos
            ? -1
            : parse_number<std::int64_t>(text.substr(slash + 1)).value_or(-1);
    if (!partition || sequence < 0) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("'{}' is no dead letter; give PARTITION/SEQUENCE, such as 3/17",
                                 shown(text))};
    }
    return DeadLetterId{{*partition}, {sequence}};
}

Event event_of(const DeadLetter& letter) {
    Event event;
    event.sequence_number = letter.sequence.value;
    event.offset = parse_number<std::int64_t>(letter.offset).value_or(-1);
    event.enqueued_time = time_point({letter.enqueued_ms});
    event.partition_key = letter.partition_key;
    event.sections = letter.sections;
    return event;
}

}  // namespace evenkeel::checkpoint
