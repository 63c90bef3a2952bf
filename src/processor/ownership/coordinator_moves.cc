// What a coordinator tells of the moves that it carried out.
// tidy: no test: coordinator_test.cc runs it
#include <fmt/core.h>

#include "processor/ownership/coordinator_core.h"

namespace evenkeel::processor {

void Coordinator::Core::tell_claim(const Write& write) const {
    if (!options_.on_move) return;
    std::string reason = "it was free";
    if (write.from == options_.id) {
        reason = "taken up again after a restart";
    } else if (!write.taken_from.empty()) {
        reason = fmt::format("taken over: '{}' has not been heard of", write.from);
    } else if (!write.from.empty()) {
        reason = fmt::format("taken from '{}', which knows no hand-over, for balance", write.from);
    } else if (write.entry.epoch.value == 1) {
        reason = "nobody had it before";
    }
    options_.on_move({.partition = write.entry.partition,
                      .epoch = write.entry.epoch,
                      .at_ms = loop_.clock().wall().milliseconds,
                      .from = write.from,
                      .to = options_.id,
                      .reason = std::move(reason)});
}

void Coordinator::Core::tell_gift(PartitionId partition) const {
    if (!options_.on_move) return;
    const checkpoint::Ownership& given = ownerships_[partition];
    std::string reason = fmt::format("handed over for balance, {} members", view_.members.size());
    if (unread_since_) {
        const Duration silent = loop_.clock().now() - *unread_since_;
        reason = fmt::format("handed over: '{}' has not heard from the hub for {} s", options_.id,
                             std::chrono::duration_cast<std::chrono::seconds>(silent).count());
    }
    if (phase_ == Phase::leaving) {
        reason = fmt::format("{}: '{}' stops", given.owner.empty() ? "released" : "handed over",
                             options_.id);
    }
    options_.on_move({.partition = partition,
                      .epoch = given.epoch,
                      .at_ms = loop_.clock().wall().milliseconds,
                      .from = options_.id,
                      .to = given.owner,
                      .reason = std::move(reason)});
}

}  // namespace evenkeel::processor
