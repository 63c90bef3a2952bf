#include "processor/ownership/move_reason.h"

#include <fmt/core.h>

namespace evenkeel::processor {

std::string claim_reason(const ClaimFacts& claim) {
    if (claim.from == claim.self) return "taken up again after a restart";
    if (claim.is_take_over) {
        return fmt::format("taken over: '{}' has not been heard of", claim.from);
    }
    if (!claim.from.empty()) {
        return fmt::format("taken from '{}', which knows no hand-over: shares differ", claim.from);
    }
    return claim.epoch.value == 1 ? "nobody had it before" : "it was free";
}

std::string transfer_reason(const TransferFacts& transfer) {
    if (transfer.is_leaving) {
        return fmt::format("{}: '{}' stops", transfer.to.empty() ? "released" : "handed over",
                           transfer.self);
    }
    if (transfer.unread) {
        return fmt::format(
            "handed over: '{}' has not heard from the hub for {} s", transfer.self,
            std::chrono::duration_cast<std::chrono::seconds>(*transfer.unread).count());
    }
    if (transfer.has_joined) return fmt::format("handed over: '{}' joined", transfer.to);
    return transfer.by_load ? "handed over: loads differ" : "handed over: shares differ";
}

}  // namespace evenkeel::processor
