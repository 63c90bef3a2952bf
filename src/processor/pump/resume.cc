#include "processor/pump/resume.h"

#include <fmt/core.h>

#include "base/number.h"
#include "base/time_point.h"

namespace evenkeel::processor {
namespace {

using checkpoint::Checkpoint;

Resume from_beginning(std::string why) {
    Resume result;
    result.position = Position::earliest();
    result.must_reset = true;
    result.notice =
        Error{ErrorCode::not_found, std::move(why) + "; this partition is read from its beginning"};
    return result;
}

Result<Resume> without_event(const Checkpoint& checkpoint,
                             const source::PartitionProperties& partition, std::int64_t created_ms,
                             const Position& start) {
    Resume result;
    result.position = start;
    if (created_ms != 0 && checkpoint.hub_created_ms == created_ms) {
        result.position = Position::earliest();
    } else if (start.kind == Position::Kind::latest) {
        result.must_pin = true;
        result.handled = partition.last;
        result.position = partition.last.value < 0 ? Position::earliest()
                                                   : Position::after_sequence(partition.last.value);
    }
    return result;
}

Result<Resume> by_offset(const Checkpoint& checkpoint) {
    const auto offset = parse_number<std::int64_t>(checkpoint.offset);
    if (!offset) {
        return Error{ErrorCode::unsupported,
                     fmt::format("the checkpoint of partition {} has no sequence number, and its "
                                 "offset '{}' is no number; set it by sequence number",
                                 checkpoint.partition.value, checkpoint.offset.substr(0, 64))};
    }
    Resume result;
    result.position = Position::after_offset(*offset);
    return result;
}

std::optional<Landmark> landmark_of(const Checkpoint& checkpoint) {
    Landmark landmark;
    landmark.sequence = checkpoint.sequence.value;
    landmark.offset = parse_number<std::int64_t>(checkpoint.offset).value_or(-1);
    landmark.enqueued_ms = checkpoint.enqueued_ms;
    if (landmark.offset < 0 && landmark.enqueued_ms == 0) return std::nullopt;
    return landmark;
}

}  // namespace

Result<> check(const Landmark& landmark, const Event& found) {
    const bool has_other_offset =
        landmark.offset >= 0 && found.offset >= 0 && found.offset != landmark.offset;
    const std::int64_t found_ms = wall_time(found.enqueued_time).milliseconds;
    const bool has_other_time =
        landmark.enqueued_ms != 0 && found_ms != 0 && found_ms != landmark.enqueued_ms;
    if (!has_other_offset && !has_other_time) return {};
    const std::string what =
        has_other_offset
            ? fmt::format("had offset {} and now has offset {}", landmark.offset, found.offset)
            : fmt::format("was enqueued at {} ms and now at {} ms", landmark.enqueued_ms, found_ms);
    return Error{ErrorCode::invalid_argument,
                 fmt::format("event {} is not the one that was handled: it {}. The event hub was "
                             "restored to an older state and written on",
                             landmark.sequence, what)};
}

Result<Resume> resume(const Checkpoint& checkpoint, const source::PartitionProperties& partition,
                      std::int64_t created_ms, const Position& start) {
    const std::int64_t sequence = checkpoint.sequence.value;
    const bool has_place = sequence >= 0 || !checkpoint.offset.empty();
    const bool are_hubs_known = created_ms != 0 && checkpoint.hub_created_ms != 0;
    if (has_place && are_hubs_known && checkpoint.hub_created_ms != created_ms) {
        return from_beginning(fmt::format(
            "the event hub was created again after the checkpoint of partition {} was stored",
            checkpoint.partition.value));
    }
    if (sequence < 0) {
        if (has_place && checkpoint.offset != "no offset") return by_offset(checkpoint);
        return without_event(checkpoint, partition, created_ms, start);
    }
    if (sequence > partition.last.value) {
        const std::string what =
            fmt::format("the checkpoint of partition {} is at event {}, but its last event is {}",
                        checkpoint.partition.value, sequence, partition.last.value);
        if (!are_hubs_known) return from_beginning(what + ": the event hub was created again");
        return Error{ErrorCode::invalid_argument,
                     what + " and the event hub is the same: it was restored to an older state"};
    }
    Resume result;
    result.position = Position::after_sequence(sequence);
    result.handled = checkpoint.sequence;
    if (partition.first.value <= sequence) result.landmark = landmark_of(checkpoint);
    const std::int64_t missed = partition.first.value - (sequence + 1);
    if (missed > 0) {
        result.handled = {partition.first.value - 1};
        result.notice =
            Error{ErrorCode::not_found,
                  fmt::format(
                      "{} events of partition {} were removed before they were handled: {} to {}",
                      missed, checkpoint.partition.value, sequence + 1, partition.first.value - 1)};
    }
    return result;
}

}  // namespace evenkeel::processor
