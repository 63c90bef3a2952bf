#include "door/amqp/recall.h"

#include <algorithm>

#include "base/log.h"

namespace evenkeel::door {
namespace {

constexpr std::size_t step_bytes = std::size_t{1} << 20;

}  // namespace

void LastNumbers::take(const commitlog::Slice& events) {
    for (const commitlog::Record& record : events) {
        const auto stamp = stamp_of(record.body);
        const auto state = stamp ? state_at(*stamp) : std::nullopt;
        if (!state) continue;
        Last& last = by_id_.try_emplace(state->id, Last{*state}).first->second;
        if (state->epoch < last.state.epoch) continue;
        last.state = *state;
        const bool begins = record.batch_index == 0;
        if (begins) last.batch = {};
        // Of a batch that was met from its middle on, or that others are in, too little is known.
        const bool goes_on = last.next_index > 0 && record.batch_index == last.next_index;
        if (begins || goes_on) {
            last.batch.add(record.key, record.body);
            last.next_index = record.batch_index + 1;
        } else {
            last.batch = {};
            last.next_index = 0;
        }
    }
}

void Recall::prepare(const hub::EventHub& event_hub, PartitionId partition, Task ready) {
    loop_.check_here();
    const ProducerPlace place{event_hub.record().incarnation, partition};
    if (known_.contains(place)) return ready();
    auto& waiting = waiting_[place];
    waiting.push_back(std::move(ready));
    if (waiting.size() > 1) return;
    const auto reading = std::make_shared<Reading>();
    reading->hub = event_hub.record().name;
    reading->place = place;
    if (const auto begun = begin(*reading); !begun.ok()) {
        reading->fault = begun.error().detail;
        return finish(*reading);
    }
    go_on(reading);
}

Result<commitlog::Log*> Recall::log_of(const Reading& reading) {
    EK_TRY_ASSIGN(hub::EventHub* const event_hub, hubs_.find(reading.hub));
    if (event_hub->record().incarnation != reading.place.first) {
        return Error{ErrorCode::not_found, "the event hub was removed"};
    }
    EK_TRY_ASSIGN(hub::Partition* const partition, event_hub->partition(reading.place.second));
    return partition->log();
}

Result<> Recall::begin(Reading& reading) {
    EK_TRY_ASSIGN(commitlog::Log* const log, log_of(reading));
    reading.end = log->end();
    const auto now = log->properties();
    const std::int64_t from = std::min(reading.end.value - log_bytes_max, now.last_offset.value);
    const bool all = from <= 0 || now.is_empty;
    EK_TRY_ASSIGN(reading.cursor,
                  log->seek(all ? Position::earliest() : Position::at_offset(from)));
    return {};
}

void Recall::go_on(const ReadingRef& reading) {
    const auto log = log_of(*reading);
    if (!log.ok()) return finish(*reading);  // whoever waits finds out
    if (reading->cursor.next >= reading->end) return finish(*reading);
    auto step = (*log)->read(reading->cursor, step_bytes);
    if (std::holds_alternative<std::monostate>(step)) return finish(*reading);
    perform(reading, std::move(step));
}

void Recall::perform(const ReadingRef& reading, commitlog::ReadStep step) {
    reads_.post([this, alive = std::weak_ptr<Recall>(alive_), &loop = loop_, reading,
                 step = std::move(step)]() mutable {
        Result<commitlog::ReadOutcome> outcome = commitlog::ReadOutcome{};
        if (const auto* const cold = std::get_if<commitlog::ColdRead>(&step)) {
            outcome = cold->perform();
        } else {
            outcome->events = std::get<commitlog::Slice>(step);
        }
        if (outcome.ok()) reading->numbers.take(outcome->events);
        loop.post([this, alive = std::move(alive), reading, outcome = std::move(outcome)] {
            if (!alive.expired()) performed(reading, outcome);
        });
    });
}

void Recall::performed(const ReadingRef& reading, const Result<commitlog::ReadOutcome>& outcome) {
    const auto log = log_of(*reading);
    if (!log.ok()) return finish(*reading);
    if (outcome.ok()) {
        (*log)->advance(reading->cursor, *outcome);
        if (outcome->damage && reading->fault.empty()) {
            reading->fault = commitlog::to_string(*outcome->damage);
        }
        return go_on(reading);
    }
    // Retention was faster: what it has removed needs no reading.
    const auto start = (*log)->seek(Position::earliest());
    if (outcome.error().code == ErrorCode::not_found && start.ok() &&
        start->next > reading->cursor.next) {
        return go_on(reading);
    }
    reading->fault = outcome.error().detail;
    finish(*reading);
}

void Recall::finish(const Reading& reading) {
    if (!reading.fault.empty()) {
        trace(
            TraceLevel::warning,
            "the end of a partition could not be read: what idempotent producers have sent before "
            "the start, and send again, may be stored twice",
            {{"event_hub", reading.hub},
             {"partition", std::to_string(reading.place.second.value)},
             {"cause", reading.fault}});
    }
    for (const auto& [id, last] : reading.numbers.by_id()) {
        producers_.restore(reading.place, last.state, last.batch);
    }
    if (known_.size() >= places_max) known_.clear();  // of event hubs long removed, most of them
    known_.insert(reading.place);
    auto waiting = std::move(waiting_.extract(reading.place).mapped());
    for (auto& ready : waiting) ready();
}

}  // namespace evenkeel::door
