#include <algorithm>
#include <map>

#include "base/guarded.h"
#include <evenkeel/duplicate_filter.h>

namespace evenkeel {

struct DuplicateFilter::State {
    using LastDone = std::map<std::uint32_t, std::int64_t>;
    Guarded<LastDone> last_done;
};

DuplicateFilter::DuplicateFilter() : state_(std::make_unique<State>()) {}
DuplicateFilter::~DuplicateFilter() = default;

void DuplicateFilter::done(std::uint32_t partition, std::int64_t sequence_number) {
    state_->last_done.with([&](State::LastDone& last_done) {
        auto& last = last_done.try_emplace(partition, sequence_number).first->second;
        last = std::max(last, sequence_number);
    });
}

bool DuplicateFilter::was_done(std::uint32_t partition, std::int64_t sequence_number) const {
    return state_->last_done.with([&](const State::LastDone& last_done) {
        const auto found = last_done.find(partition);
        return found != last_done.end() && sequence_number <= found->second;
    });
}

void DuplicateFilter::forget(std::uint32_t partition) {
    state_->last_done.with([&](State::LastDone& last_done) { last_done.erase(partition); });
}

}  // namespace evenkeel
