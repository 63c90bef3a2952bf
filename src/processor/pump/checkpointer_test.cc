#include "processor/pump/checkpointer.h"

#include <chrono>

#include <gtest/gtest.h>

#include "checkpoint/faulty_store.h"
#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::processor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Rig : Permit {
    bool may_act(PartitionId) const override { return is_there; }
    void on_fenced(PartitionId) override {}

    explicit Rig(const CheckpointPolicy& policy)
        : checkpointer({loop, store, *this, {0}, {3}}, policy,
                       {[this] { is_fenced = true; },
                        [this](const Error& error, std::optional<Duration>) {
                            errors.push_back(error.code);
                        }},
                       Random(1)) {}

    std::int64_t stored() const {
        const auto all = server.snapshot(group).checkpoints();
        return all.empty() ? -1 : all[0].sequence.value;
    }

    const checkpoint::GroupName group{"a", "b", "c"};
    io::sim::Scheduler scheduler{test::test_seed()};
    checkpoint::MemoryServer server{scheduler.clock()};
    io::sim::SimLoop loop{scheduler, "me"};
    io::sim::SimLoop server_loop{scheduler, "store"};
    checkpoint::Faults faults{.write_half = milliseconds(50)};
    checkpoint::FaultyStore store{
        loop, server_loop, std::make_shared<checkpoint::MemoryStore>(server_loop, server, group),
        faults, scheduler.fork_random()};
    bool is_there = true;
    bool is_fenced = false;
    std::vector<ErrorCode> errors;
    Checkpointer checkpointer;
};

TEST(Checkpointer, writes_once_for_many_events_and_the_latest_wins) {
    Rig rig({.every_events = 1, .every = milliseconds(0)});

    for (int i = 0; i < 100; ++i) rig.checkpointer.advance({i, 0, i * 10}, 1);
    rig.scheduler.run_for(seconds(5));

    EXPECT_EQ(rig.stored(), 99);
    EXPECT_LE(rig.store.requests(), 3u);
    EXPECT_EQ(rig.server.snapshot(rig.group).checkpoints()[0].offset, "990");
}

TEST(Checkpointer, writes_by_count_by_time_or_by_hand) {
    EXPECT_TRUE(is_due({.every_events = 10}, 10));
    EXPECT_FALSE(is_due({.every_events = 10}, 9));
    EXPECT_FALSE(is_due({.every_events = 0}, 1000));
    EXPECT_FALSE(is_due({.manual = true, .every_events = 10}, 1000));
}

TEST(Checkpointer, counting_attempts_keeps_the_former_owners_offset_and_time) {
    Rig rig({.manual = true});
    rig.checkpointer.begin(
        {.partition = {0}, .sequence = {5}, .offset = "500", .epoch = {2}, .enqueued_ms = 1234});

    Mark failed = rig.checkpointer.latest();
    failed.attempts = 1;
    rig.checkpointer.advance(failed, 0);
    rig.checkpointer.write_soon();
    rig.scheduler.run_for(seconds(5));

    const auto stored = rig.server.snapshot(rig.group).checkpoints()[0];
    EXPECT_EQ(stored.attempts, 1u);
    EXPECT_EQ(stored.offset, "500");
    EXPECT_EQ(stored.enqueued_ms, 1234);
}

TEST(Checkpointer, answers_a_flush_when_all_of_it_is_stored) {
    Rig rig({.manual = true});
    std::optional<std::int64_t> stored_then;
    rig.checkpointer.advance({5, 0, 0}, 1);
    rig.checkpointer.write_soon();
    rig.scheduler.run_for(milliseconds(1));
    rig.checkpointer.advance({9, 0, 0}, 1);

    rig.checkpointer.flush([&](const Result<>& result) {
        EXPECT_TRUE(result.ok());
        stored_then = rig.stored();
    });
    rig.scheduler.run_for(seconds(5));

    EXPECT_EQ(stored_then, 9);
}

TEST(Checkpointer, tries_a_failed_write_again_and_never_counts_it_as_stored) {
    Rig rig({.manual = true});
    rig.faults.outage = true;
    bool is_flushed = false;
    rig.checkpointer.advance({5, 0, 0}, 1);
    rig.checkpointer.flush([&](const Result<>&) { is_flushed = true; });
    rig.scheduler.run_for(seconds(30));
    EXPECT_FALSE(is_flushed);
    EXPECT_EQ(rig.checkpointer.stored().sequence, -1);
    EXPECT_GE(rig.errors.size(), 5u);

    rig.faults.outage = false;
    rig.scheduler.run_for(seconds(10));

    EXPECT_TRUE(is_flushed);
    EXPECT_EQ(rig.stored(), 5);
}

TEST(Checkpointer, writes_nothing_more_once_it_is_fenced) {
    Rig rig({.manual = true});
    rig.store.seal({0}, {9}, [](auto) {});
    rig.scheduler.run_for(seconds(1));
    std::optional<ErrorCode> flushed;
    rig.checkpointer.advance({5, 0, 0}, 1);

    rig.checkpointer.flush([&](const Result<>& result) { flushed = result.error().code; });
    rig.scheduler.run_for(seconds(5));
    const auto requests = rig.store.requests();
    rig.checkpointer.advance({6, 0, 0}, 1);
    rig.checkpointer.write_soon();
    rig.scheduler.run_for(seconds(5));

    EXPECT_TRUE(rig.is_fenced);
    EXPECT_EQ(flushed, ErrorCode::cancelled);
    EXPECT_EQ(rig.store.requests(), requests);
    EXPECT_EQ(rig.stored(), -1);
}

TEST(Checkpointer, goes_on_behind_a_checkpoint_that_somebody_set_further_on) {
    Rig rig({.manual = true});
    rig.store.write_checkpoint({.partition = {0}, .sequence = {50}, .epoch = {3}}, [](auto) {});
    rig.scheduler.run_for(seconds(1));
    rig.checkpointer.advance({5, 0, 0}, 1);
    rig.checkpointer.write_soon();
    rig.scheduler.run_for(seconds(5));
    EXPECT_EQ(rig.errors, std::vector{ErrorCode::conflict});

    rig.checkpointer.advance({60, 0, 0}, 1);
    rig.checkpointer.write_soon();
    rig.scheduler.run_for(seconds(5));

    EXPECT_EQ(rig.stored(), 60);
}

TEST(Checkpointer, waits_for_the_permit) {
    Rig rig({.manual = true});
    rig.is_there = false;
    rig.checkpointer.advance({5, 0, 0}, 1);
    rig.checkpointer.write_soon();
    rig.scheduler.run_for(seconds(5));
    EXPECT_EQ(rig.store.requests(), 0u);

    rig.is_there = true;
    rig.scheduler.run_for(seconds(5));

    EXPECT_EQ(rig.stored(), 5);
}

}  // namespace
}  // namespace evenkeel::processor
