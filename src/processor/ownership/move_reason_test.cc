#include "processor/ownership/move_reason.h"

#include <gtest/gtest.h>

namespace evenkeel::processor {
namespace {

TEST(MoveReason, tells_claims_apart) {
    EXPECT_EQ(claim_reason({"a", "", false, Epoch{1}}), "nobody had it before");
    EXPECT_EQ(claim_reason({"a", "", false, Epoch{2}}), "it was free");
    EXPECT_EQ(claim_reason({"a", "a", true, Epoch{2}}), "taken up again after a restart");
    EXPECT_EQ(claim_reason({"a", "b", true, Epoch{2}}), "taken over: 'b' has not been heard of");
    EXPECT_EQ(claim_reason({"a", "b", false, Epoch{2}}),
              "taken from 'b', which knows no hand-over, for balance");
}

TEST(MoveReason, tells_transfers_apart) {
    using namespace std::chrono_literals;

    EXPECT_EQ(transfer_reason({"a", "b", false, std::nullopt, 3}),
              "handed over for balance, 3 members");
    EXPECT_EQ(transfer_reason({"a", "b", false, Duration(25s), 3}),
              "handed over: 'a' has not heard from the hub for 25 s");
    EXPECT_EQ(transfer_reason({"a", "b", true, Duration(25s), 3}), "handed over: 'a' stops");
    EXPECT_EQ(transfer_reason({"a", "", true, std::nullopt, 1}), "released: 'a' stops");
}

}  // namespace
}  // namespace evenkeel::processor
