#include "demo/runs.h"

#include "demo/stream_body.h"

namespace evenkeel::demo {

using Kind = Report::Kind;

void Runs::take(const Event& event, std::int64_t now_ms) {
    const auto body = decode_stream_body(event.body());
    if (!body || body->run != run_ || body->partition != partition_ ||
        body->producer >= producers_) {
        tell_all();
        return tell({.kind = Kind::foreign,
                     .partition = partition_,
                     .sequence = event.sequence_number,
                     .epoch = epoch_,
                     .at_ms = now_ms});
    }
    const bool follows =
        open_.count > 0 && open_.producer == body->producer &&
        body->number == open_.number + open_.count &&
        event.sequence_number == open_.sequence + static_cast<std::int64_t>(open_.count);
    if (!follows) {
        tell_all();
        open_ = {.kind = Kind::read,
                 .partition = partition_,
                 .producer = body->producer,
                 .number = body->number,
                 .sequence = event.sequence_number,
                 .epoch = epoch_,
                 .at_ms = now_ms};
    }
    ++open_.count;
}

void Runs::tell_all() {
    if (open_.count > 0) tell(open_);
    open_.count = 0;
}

}  // namespace evenkeel::demo
