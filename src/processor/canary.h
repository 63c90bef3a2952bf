// Known bugs on purpose, one for each canary build (tests/sim): they prove that the simulation can
// fail. A normal build has none of them; the compiler removes the branches.
#pragma once

namespace evenkeel::processor {

#ifndef EK_PROCESSOR_CANARY
#define EK_PROCESSOR_CANARY 0
#endif

// The lease never ends by itself: a paused owner goes on.
inline constexpr bool canary_no_fence = EK_PROCESSOR_CANARY == 1;
// Members are judged by their wall clock against ours.
inline constexpr bool canary_wall_clock_expiry = EK_PROCESSOR_CANARY == 2;
// A hand-over is written before the handler has ended and its progress is stored.
inline constexpr bool canary_release_without_flush = EK_PROCESSOR_CANARY == 3;
// The lease counts from the answer of a heartbeat, not from its sending.
inline constexpr bool canary_late_answer_revives = EK_PROCESSOR_CANARY == 4;
// A partition given to us is read without a write of our own.
inline constexpr bool canary_accept_without_write = EK_PROCESSOR_CANARY == 5;
// A take-over looks at members only before it looks at ownerships.
inline constexpr bool canary_members_before_ownerships = EK_PROCESSOR_CANARY == 6;
// After a lapse, what was held counts as held under the new lease.
inline constexpr bool canary_lapse_keeps_holdings = EK_PROCESSOR_CANARY == 7;
// What was seen before an outage still counts after it.
inline constexpr bool canary_blind_judgement = EK_PROCESSOR_CANARY == 8;
// A transfer of unknown outcome reopens the reader.
inline constexpr bool canary_unknown_transfer_reopens = EK_PROCESSOR_CANARY == 9;
// What is handed to the handler counts as handled before it has ended.
inline constexpr bool canary_checkpoint_before_handling = EK_PROCESSOR_CANARY == 10;
// A pump is closed in peace without storing its progress.
inline constexpr bool canary_close_without_flush = EK_PROCESSOR_CANARY == 11;
// An owner whose lease is over goes on without a reader, and so without hearing of another.
inline constexpr bool canary_acts_without_reader = EK_PROCESSOR_CANARY == 12;
// A checkpoint that cannot be read counts as none.
inline constexpr bool canary_failed_seal_is_none = EK_PROCESSOR_CANARY == 13;
// A member that is old by the store's clock is dead.
inline constexpr bool canary_expiry_by_age = EK_PROCESSOR_CANARY == 14;
// A member that cannot read keeps its partitions.
inline constexpr bool canary_keeps_unread = EK_PROCESSOR_CANARY == 15;
// A member that cannot read gives its partitions to any other.
inline constexpr bool canary_gives_to_unable = EK_PROCESSOR_CANARY == 16;
// What an emptied store answers is believed.
inline constexpr bool canary_believes_any_store = EK_PROCESSOR_CANARY == 17;

}  // namespace evenkeel::processor
