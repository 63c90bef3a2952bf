// tidy: no test: tested by event_browser_test.cc
#include "dashboard/event_peek.h"

#include <utility>

#include "hub/events.h"

namespace evenkeel::dashboard {

void EventPeek::start(io::Loop& loop, io::Executor& reads, hub::Partition& partition,
                      const Position& position, Visit visit, Done done) {
    loop.check_here();
    auto peek = std::make_shared<EventPeek>(loop, reads, std::move(visit), std::move(done));
    auto cursor = partition.peek(position, peek->stream_.ended());
    if (!cursor.ok()) {
        // Beyond the last event there is nothing yet.
        const bool is_beyond = cursor.error().code == ErrorCode::invalid_argument;
        return peek->finish(is_beyond ? Result<Ended>(Ended{.at_end = true, .problems = {}})
                                      : Result<Ended>(cursor.error()));
    }
    peek->self_ = peek;
    peek->stream_.start(std::move(*cursor));
    peek->step();
}

EventPeek::EventPeek(io::Loop& loop, io::Executor& reads, Visit visit, Done done)
    : loop_(loop),
      reads_(loop, reads),
      stream_(*this, reads_, {}),
      visit_(std::move(visit)),
      done_(std::move(done)) {}

void EventPeek::on_ready() {
    step();
}

void EventPeek::on_ended(const Error& why) {
    finish(why);
}

void EventPeek::step() {
    if (!self_) return;
    auto given = stream_.next();
    if (!given.ok()) return finish(given.error());
    if (std::holds_alternative<std::monostate>(*given)) {
        // Either a cold read is under way, or nothing is left.
        if (stream_.state() != hub::PartitionStream::State::waiting) return;
        ended_.at_end = true;
        return finish(std::move(ended_));
    }
    if (const auto* const damage = std::get_if<commitlog::Damage>(&*given)) {
        ended_.problems.push_back(commitlog::to_string(*damage));
    } else {
        auto& slice = std::get<commitlog::Slice>(*given);
        while (!slice.empty()) {
            const EventBatch batch = hub::take_events(slice, 256);
            for (const Event& event : batch) {
                if (!visit_(event)) return finish(std::move(ended_));
            }
        }
    }
    loop_.post([self = self_] { self->step(); });
}

void EventPeek::finish(Result<Ended> result) {
    // The stream may be on the stack.
    loop_.post([self = std::exchange(self_, nullptr)] {});
    if (!done_) return;
    Done done = std::exchange(done_, nullptr);
    done(std::move(result));
}

}  // namespace evenkeel::dashboard
