#include "host/scale/load_history.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace evenkeel::host {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration rate_period_min = seconds(1);
constexpr double smoothing_s = 30;
constexpr Duration span_length = seconds(10);
// A measurement this old is replaced by a new one; a younger one is averaged with it.
constexpr Duration measurement_age_max = minutes(2);
constexpr double doubling_s = std::chrono::duration<double>(hours(6)).count();
// Within this time of its start an instance may not have begun to work.
constexpr Duration start_time_max = seconds(15);
// More instances so soon after a scale-in: that was a mistake.
constexpr Duration regret_max = minutes(2);
constexpr Duration moving_max = minutes(2);

double seconds_of(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

void LoadHistory::note(const GroupLoad& load, std::uint32_t instances, Instant now) {
    const LoadSum sum = sum_of(load, never_read_);
    if (std::exchange(unknown_, std::nullopt)) {
        since_ = now;
        arrivals_from_.reset();
        span_.reset();
        falling_behind_.reset();
    }
    unread_.note(sum.unread, now);
    const std::int64_t arrived = std::max<std::int64_t>(0, sum.stored - latest_.stored);
    activity_.note(std::max(sum.unread, latest_.partitions == 0 ? 0 : arrived), now);
    if (!load.is_moving) {
        moving_since_.reset();
    } else if (!moving_since_) {
        moving_since_ = now;
    }
    measure_arrivals(sum, now);
    measure_instance(sum, instances, now);
    learn_from_growth(sum, instances, now);
    latest_ = sum;
    instances_ = instances;
    noted_at_ = now;
}

void LoadHistory::note_unknown(std::string why) {
    unknown_ = std::move(why);
}

bool LoadHistory::is_moving(Instant now) const {
    return moving_since_ && now - *moving_since_ <= moving_max;
}

std::optional<double> LoadHistory::instance_per_s(Instant now) const {
    if (!instance_) return std::nullopt;
    return *instance_ * std::exp2(seconds_of(now - instance_at_) / doubling_s);
}

void LoadHistory::measure_arrivals(const LoadSum& sum, Instant now) {
    // An event hub that was made again begins at 0, and so does the measurement.
    if (!arrivals_from_ || sum.stored < arrivals_from_->stored) {
        arrivals_from_ = {now, sum.stored};
        return;
    }
    const Duration elapsed = now - arrivals_from_->at;
    if (elapsed < rate_period_min) return;
    const double rate =
        static_cast<double>(sum.stored - arrivals_from_->stored) / seconds_of(elapsed);
    const double weight = 1 - std::exp(-seconds_of(elapsed) / smoothing_s);
    arrivals_ = arrivals_ ? *arrivals_ + weight * (rate - *arrivals_) : rate;
    arrivals_from_ = {now, sum.stored};
}

void LoadHistory::measure_instance(const LoadSum& sum, std::uint32_t instances, Instant now) {
    // With fewer such partitions some instances may be idle.
    if (sum.backlogged < instances || instances == 0) return span_.reset();
    if (!span_ || span_->instances != instances || sum.handled < span_->handled) {
        span_ = {now, sum.handled, instances};
        return;
    }
    const Duration elapsed = now - span_->begin;
    if (elapsed < span_length) return;
    const std::int64_t handled = sum.handled - span_->handled;
    span_ = {now, sum.handled, instances};
    if (handled == 0) return;  // stuck: nobody knows what they could do
    measured(static_cast<double>(handled) / seconds_of(elapsed) / instances, now);
}

// More were started because these fell behind: so they had been as fast as they can.
void LoadHistory::learn_from_growth(const LoadSum& sum, std::uint32_t instances, Instant now) {
    if (instances < instances_) shrunk_at_ = now;
    if (instances > instances_) {
        const double readers = std::min(instances_, latest_.partitions);
        if (falling_behind_ && readers > 0) {
            const double elapsed = seconds_of(behind_until_ - falling_behind_->begin);
            const auto handled = static_cast<double>(latest_.handled - falling_behind_->handled);
            if (handled > 0) measured(handled / elapsed / readers, now);
        } else if (shrunk_at_ && now - *shrunk_at_ <= regret_max && readers > 0 && arrivals_) {
            // There is no time to measure it, but it was less than what arrived.
            const double most = *arrivals_ / readers;
            instance_ = std::min(instance_per_s(now).value_or(most), most);
            instance_at_ = now;
        }
        grown_at_ = now;
    }
    const bool is_behind =
        instances == instances_ && sum.unread > latest_.unread && now - grown_at_ >= start_time_max;
    if (!is_behind) return falling_behind_.reset();
    if (!falling_behind_) falling_behind_ = {noted_at_, latest_.handled, instances};
    behind_until_ = now;
}

void LoadHistory::measured(double rate, Instant now) {
    const bool is_recent = instance_ && now - instance_at_ <= measurement_age_max;
    instance_ = is_recent ? (*instance_ + rate) / 2 : rate;
    instance_at_ = now;
}

}  // namespace evenkeel::host
