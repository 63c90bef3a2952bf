#include "crash/checker.h"

#include <algorithm>

#include <fmt/core.h>

namespace evenkeel::crash {
namespace {

class Check {
public:
    Check(const History& history, const Reading& reading, const Rules& rules)
        : history_(history), reading_(reading), rules_(rules) {}

    std::string run() {
        if (history_.batches.empty()) return "invalid: an empty history proves nothing";
        for (const auto step : {&Check::bounds, &Check::order, &Check::values, &Check::batches,
                                &Check::acknowledged, &Check::seen}) {
            if (auto wrong = (this->*step)(); !wrong.empty()) return wrong;
        }
        return {};
    }

private:
    const Observed* at(std::int64_t sequence) const {
        const auto& events = reading_.events;
        const auto found = std::lower_bound(
            events.begin(), events.end(), sequence,
            [](const Observed& event, std::int64_t number) { return event.sequence < number; });
        return found != events.end() && found->sequence == sequence ? &*found : nullptr;
    }
    bool in_gap(std::int64_t sequence) const {
        return std::any_of(reading_.gaps.begin(), reading_.gaps.end(), [&](const Gap& gap) {
            return gap.from <= sequence && sequence < gap.to;
        });
    }

    std::string bounds() {
        if (!rules_.gaps_allowed && !reading_.gaps.empty()) {
            return fmt::format(
                "LOG-7: events {} to {} are reported damaged, but nothing was damaged",
                reading_.gaps[0].from, reading_.gaps[0].to - 1);
        }
        if (reading_.begin < history_.begin_done && !rules_.begin_may_fall) {
            return fmt::format("begin fell to {}; removal up to {} was acknowledged",
                               reading_.begin, history_.begin_done);
        }
        if (reading_.begin > history_.begin_asked) {
            return fmt::format("begin is {}; removal was asked for only up to {}", reading_.begin,
                               history_.begin_asked);
        }
        if (reading_.next < history_.next_min()) {
            return fmt::format("LOG-4: the next number is {}, but {} was acknowledged or seen",
                               reading_.next, history_.next_min() - 1);
        }
        return {};
    }

    // Dense from begin to next, but for gaps that were reported.
    std::string order() {
        std::int64_t expected = reading_.begin;
        const Observed* before = nullptr;
        for (const auto& event : reading_.events) {
            if (event.sequence < expected) {
                return fmt::format("LOG-1: event {} after event {}", event.sequence, expected - 1);
            }
            for (; expected < event.sequence; ++expected) {
                if (!in_gap(expected)) return skipped(expected);
            }
            if (before && event.offset <= before->offset) {
                return fmt::format("LOG-1: the offset does not rise at event {}", event.sequence);
            }
            if (before && event.time < before->time) {
                return fmt::format("LOG-5: the enqueued time falls at event {}", event.sequence);
            }
            before = &event;
            ++expected;
        }
        for (; expected < reading_.next; ++expected) {
            if (!in_gap(expected)) return skipped(expected);
        }
        if (expected > reading_.next) return "LOG-3: an event at or above the end was read";
        return {};
    }
    static std::string skipped(std::int64_t sequence) {
        return fmt::format("LOG-1: event {} was skipped without a word", sequence);
    }

    std::string values() {
        std::unordered_map<std::uint64_t, std::int64_t> places;
        for (const auto& event : reading_.events) {
            if (!event.value) return fmt::format("event {} has wrong bytes", event.sequence);
            const auto sent = history_.sent.find(event.value->id());
            if (sent == history_.sent.end()) {
                return fmt::format("event {} was never sent: {}", event.sequence,
                                   to_string(*event.value));
            }
            const auto& batch = history_.batches[sent->second.first];
            if (batch.fate == Fate::refused && !rules_.refused_allowed) {
                return fmt::format("LOG-6: event {} was refused: {}", event.sequence,
                                   to_string(*event.value));
            }
            const auto [place, is_new] = places.emplace(event.value->id(), event.sequence);
            if (!is_new) {
                return fmt::format("value {} is stored twice: {} and {}", to_string(*event.value),
                                   place->second, event.sequence);
            }
        }
        return {};
    }

    // A batch of which one event is there is there as a whole, its events side by side.
    std::string batches() {
        std::size_t i = 0;
        while (i < reading_.events.size()) {
            const Observed& event = reading_.events[i];
            const auto [number, index] = history_.sent.at(event.value->id());
            const auto& batch = history_.batches[number];
            const std::int64_t first = event.sequence - static_cast<std::int64_t>(index);
            for (std::size_t k = 0; k < batch.values.size(); ++k) {
                const std::int64_t sequence = first + static_cast<std::int64_t>(k);
                if (sequence < reading_.begin || in_gap(sequence)) continue;
                const Observed* const part = at(sequence);
                if (!part || part->value != batch.values[k]) {
                    return fmt::format("LOG-1: the batch of {} is not whole: {} is not event {}",
                                       to_string(*event.value), to_string(batch.values[k]),
                                       sequence);
                }
            }
            const auto end = first + static_cast<std::int64_t>(batch.values.size());
            while (i < reading_.events.size() && reading_.events[i].sequence < end) ++i;
        }
        return {};
    }

    std::string acknowledged() {
        for (const auto& batch : history_.batches) {
            if (batch.fate != Fate::acknowledged) continue;
            for (std::size_t k = 0; k < batch.values.size(); ++k) {
                const std::int64_t sequence = batch.first + static_cast<std::int64_t>(k);
                if (sequence < reading_.begin || in_gap(sequence)) continue;
                const Observed* const event = at(sequence);
                if (!event || event->value != batch.values[k]) {
                    return fmt::format("LOG-2: event {} ({}) was acknowledged and is {}", sequence,
                                       to_string(batch.values[k]), event ? "another" : "gone");
                }
                const bool last = k + 1 == batch.values.size();
                if (event->time != batch.time || (last && event->offset != batch.last_offset)) {
                    return fmt::format("event {} was acknowledged with another offset or time",
                                       sequence);
                }
            }
        }
        return {};
    }

    std::string seen() {
        for (const auto& before : history_.seen) {
            if (!before || before->sequence < reading_.begin || in_gap(before->sequence)) continue;
            const Observed* const event = at(before->sequence);
            if (!event)
                return fmt::format("LOG-3: event {} was seen and is gone", before->sequence);
            if (*event != *before) {
                return fmt::format("LOG-4: event {} was seen and is another", before->sequence);
            }
        }
        return {};
    }

    const History& history_;
    const Reading& reading_;
    const Rules& rules_;
};

}  // namespace

std::string difference(const Reading& expected, const Reading& actual) {
    if (expected == actual) return {};
    if (expected.begin != actual.begin || expected.next != actual.next) {
        return fmt::format("begin and next are {} and {}, not {} and {}", actual.begin, actual.next,
                           expected.begin, expected.next);
    }
    if (expected.events.size() != actual.events.size()) {
        return fmt::format("{} events, not {}", actual.events.size(), expected.events.size());
    }
    for (std::size_t i = 0; i < expected.events.size(); ++i) {
        if (expected.events[i] != actual.events[i]) {
            return fmt::format("event {} is another", expected.events[i].sequence);
        }
    }
    return fmt::format("{} damaged ranges, not {}, or other ones", actual.gaps.size(),
                       expected.gaps.size());
}

std::string check(const History& history, const Reading& reading, const Rules& rules) {
    return Check(history, reading, rules).run();
}

}  // namespace evenkeel::crash
