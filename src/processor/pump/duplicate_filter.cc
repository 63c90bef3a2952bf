#include <algorithm>
#include <map>

#include "base/mutex.h"
#include <evenkeel/duplicate_filter.h>

namespace evenkeel {

struct DuplicateFilter::State {
    Mutex mutex;
    std::map<std::uint32_t, std::int64_t> last_done EK_GUARDED_BY(mutex);
};

DuplicateFilter::DuplicateFilter() : state_(std::make_unique<State>()) {}
DuplicateFilter::~DuplicateFilter() = default;

void DuplicateFilter::done(std::uint32_t partition, std::int64_t sequence_number) {
    const Lock lock(state_->mutex);
    auto& last = state_->last_done.try_emplace(partition, sequence_number).first->second;
    last = std::max(last, sequence_number);
}

bool DuplicateFilter::was_done(std::uint32_t partition, std::int64_t sequence_number) const {
    const Lock lock(state_->mutex);
    const auto found = state_->last_done.find(partition);
    return found != state_->last_done.end() && sequence_number <= found->second;
}

void DuplicateFilter::forget(std::uint32_t partition) {
    const Lock lock(state_->mutex);
    state_->last_done.erase(partition);
}

}  // namespace evenkeel
