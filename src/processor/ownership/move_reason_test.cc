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
              "taken from 'b', which knows no hand-over: shares differ");
}

TEST(MoveReason, tells_transfers_apart) {
    using namespace std::chrono_literals;

    EXPECT_EQ(transfer_reason({.self = "a", .to = "b", .has_joined = true}),
              "handed over: 'b' joined");
    EXPECT_EQ(transfer_reason({.self = "a", .to = "b"}), "handed over: shares differ");
    EXPECT_EQ(transfer_reason({.self = "a", .to = "b", .by_load = true}),
              "handed over: loads differ");
    EXPECT_EQ(transfer_reason({.self = "a", .to = "b", .unread = 25s, .has_joined = true}),
              "handed over: 'a' has not heard from the hub for 25 s");
    EXPECT_EQ(transfer_reason({.self = "a", .to = "b", .is_leaving = true, .unread = 25s}),
              "handed over: 'a' stops");
    EXPECT_EQ(transfer_reason({.self = "a", .is_leaving = true}), "released: 'a' stops");
}

}  // namespace
}  // namespace evenkeel::processor
