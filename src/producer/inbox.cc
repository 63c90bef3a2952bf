#include "producer/inbox.h"

#include <utility>

#include "base/check.h"

namespace evenkeel::producer {
namespace {

// What is kept for the next events; a burst gives its memory back.
constexpr std::size_t kept_bytes_max = std::size_t{1} << 20;

}  // namespace

void Inbox::Events::clear() {
    if (sections_.capacity() > kept_bytes_max) {
        *this = {};
        return;
    }
    entries_.clear();
    keys_.clear();
    sections_.clear();
}

bool Inbox::add(const Route& route, ByteView section) {
    return state_.with([&](State& state) {
        Events& events = state.events;
        events.entries_.push_back({route.partition,
                                   static_cast<std::uint32_t>(route.partition_key.size()),
                                   section.size()});
        events.keys_.append(route.partition_key);
        events.sections_.insert(events.sections_.end(), section.begin(), section.end());
        const bool is_much = events.sections_.size() >= wake_bytes;
        if (state.is_awaited && (!is_much || state.is_urgent)) return false;
        state.is_awaited = true;
        state.is_urgent = is_much;
        return true;
    });
}

void Inbox::take(Events& to, bool looks_again) {
    EK_CHECK(to.empty(), "takes events before the last ones are done with");
    state_.with([&](State& state) {
        std::swap(state.events, to);
        state.is_awaited = looks_again && !to.empty();
        state.is_urgent = false;
    });
}

}  // namespace evenkeel::producer
