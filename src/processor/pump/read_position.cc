#include "processor/pump/read_position.h"

#include <string>

#include "base/time_point.h"

namespace evenkeel::processor {

void ReadPosition::begin(const Resume& resume) {
    position_ = resume.position;
    landmark_ = resume.landmark;
    checkpoint_.sequence = resume.handled;
}

void ReadPosition::note_taken(const Event& last) {
    taken_ = {last.sequence_number, last.offset, wall_time(last.enqueued_time).milliseconds};
}

void ReadPosition::forget_taken() {
    taken_ = {};
    is_chosen_ = false;
}

bool ReadPosition::rewind() {
    if (taken_.sequence < 0) return false;
    landmark_ = taken_;
    checkpoint_.sequence = {taken_.sequence};
    checkpoint_.offset = taken_.offset < 0 ? "" : std::to_string(taken_.offset);
    checkpoint_.enqueued_ms = taken_.enqueued_ms;
    checkpoint_.hub_created_ms = hub_created_ms_;
    position_ = Position::after_sequence(taken_.sequence);
    return true;
}

bool ReadPosition::apply_seek() {
    if (!seek_) return false;
    position_ = *seek_;
    seek_.reset();
    is_chosen_ = true;
    landmark_.reset();
    taken_ = {};
    return true;
}

Position ReadPosition::next() const {
    return landmark_ ? Position::at_sequence(landmark_->sequence) : position_;
}

}  // namespace evenkeel::processor
