#include "hub/rate.h"

#include <algorithm>

namespace evenkeel::hub {

void Rate::sample(Instant now, std::int64_t total) {
    if (count_ > 0 && now - samples_[(count_ - 1) % samples_.size()].at < step) return;
    samples_[count_ % samples_.size()] = {now, total};
    ++count_;
}

double Rate::per_second(Instant now, std::int64_t total) const {
    // The youngest sample that is as old as the window; without one the oldest there is.
    Sample since{now, before_};
    const std::size_t first = count_ - std::min(count_, samples_.size());
    for (std::size_t i = first; i < count_; ++i) {
        const Sample& sample = samples_[i % samples_.size()];
        if (i == first || now - sample.at >= window) since = sample;
    }
    const Duration elapsed = std::max(now - since.at, step);
    const auto grown = static_cast<double>(std::max<std::int64_t>(0, total - since.total));
    return grown / std::chrono::duration<double>(elapsed).count();
}

}  // namespace evenkeel::hub
