// The entries that the golden files tests/data/redis_v1 and blob_v1 hold.
#pragma once

#include "base/bytes.h"
#include "checkpoint/store.h"

namespace evenkeel::checkpoint {

inline Member golden_member() {
    return {.id = "alice",
            .incarnation = "run-7",
            .state = MemberState::leaving,
            .since_ms = 1'767'225'600'123,
            .note = "host:1",
            .restarts = 2,
            .generation = 9,
            .expecting = true,
            .offers = {{{2}, "bob"}, {{17}, ""}}};
}

inline Ownership golden_ownership() {
    return {.partition = {3},
            .owner = "alice",
            .epoch = {7},
            .since_ms = 1'767'225'600'123,
            .load = 0.5};
}

inline Ownership golden_released_ownership() {
    return {.partition = {3}, .epoch = {8}};
}

inline DeadLetter golden_dead_letter() {
    const ByteView sections = as_bytes("sections");
    return {.partition = {3},
            .sequence = {42},
            .offset = "4294967296",
            .enqueued_ms = 1'767'225'600'123,
            .partition_key = "key",
            .cause = "bad event",
            .attempts = 3,
            .at_ms = 1'767'225'600'125,
            .sections = {sections.begin(), sections.end()}};
}

}  // namespace evenkeel::checkpoint
