// What is wished of a command while its partition is given up: in a graceful hand-over it has time
// to finish; if the partition is lost it is terminated at once, because the next owner may have
// begun. Pure. Threads: one at a time.
#pragma once

#include <chrono>
#include <optional>

#include "base/clock.h"
#include "host/handler/command_child.h"
#include <evenkeel/processor.h>

namespace evenkeel::host {

class ClosingWish {
public:
    // Between SIGTERM and SIGKILL.
    static constexpr Duration terminate_time = std::chrono::seconds(3);

    // `drain_max`: to finish, in a graceful hand-over.
    explicit ClosingWish(Duration drain_max) : drain_max_(drain_max) {}

    CommandChild::Wish at(std::optional<Closed> closing, Instant now) {
        using enum CommandChild::Wish;
        if (!closing) return go_on;
        if (!since_ || as_ != closing) since_ = now;
        as_ = closing;
        const Duration time = *closing == Closed::lost ? Duration(0) : drain_max_;
        if (now < *since_ + time) return finish;
        return now < *since_ + time + terminate_time ? terminate : kill;
    }

private:
    const Duration drain_max_;
    std::optional<Closed> as_;
    std::optional<Instant> since_;
};

}  // namespace evenkeel::host
