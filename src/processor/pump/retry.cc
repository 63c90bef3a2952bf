#include "processor/pump/retry.h"

#include <algorithm>
#include <chrono>

#include "processor/pump/handler_cell.h"

namespace evenkeel::processor {
namespace {

Duration jittered(Duration pause, Random& random) {
    const std::int64_t fifth = pause.count() / 5;
    return Duration(pause.count() + random.between(-fifth, fifth));
}

Duration doubled(Duration first, Duration max, std::uint32_t failures) {
    Duration pause = first;
    for (std::uint32_t i = 1; i < failures && pause < max; ++i) pause *= 2;
    return std::min(pause, max);
}

}  // namespace

Duration retry_delay(const RetryPolicy& policy, std::uint32_t failures, Random& random) {
    if (!policy.exponential) return std::min<Duration>(policy.delay, policy.delay_max);
    return jittered(doubled(policy.delay, policy.delay_max, failures), random);
}

Duration restart_delay(std::uint32_t failures, Random& random) {
    return jittered(doubled(std::chrono::milliseconds(100), std::chrono::seconds(5), failures),
                    random);
}

bool is_outage(const Error& error) {
    return error.code == ErrorCode::unavailable || error.code == ErrorCode::overloaded;
}

Verdict judge(const RetryPolicy& policy, const Error& error, std::size_t batch_events,
              std::uint32_t failures) {
    bool is_hopeless = false;
    Callback<Result<>()> ask = [&]() -> Result<> {
        is_hopeless = policy.is_retriable && !policy.is_retriable(error);
        return {};
    };
    (void)call_user(ask);  // if it throws, the error is worth another attempt
    if (batch_events > 1) return is_hopeless ? Verdict::single : Verdict::retry;
    return is_hopeless || failures >= policy.attempts_max ? Verdict::poison : Verdict::retry;
}

}  // namespace evenkeel::processor
