#include "commitlog/log.h"

#include <gtest/gtest.h>

#include "commitlog/log_fixture.h"

namespace evenkeel::commitlog {
namespace {

using namespace std::chrono_literals;

TEST(Log, gives_back_what_was_appended) {
    LogFixture world;

    ASSERT_TRUE(world.append({"a", "b"}).ok());
    ASSERT_TRUE(world.append({"c"}).ok());

    EXPECT_EQ(world.read_all().bodies(), (std::vector<std::string>{"a", "b", "c"}));
    world.reopen();
    EXPECT_EQ(world.read_all().bodies(), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Log, keeps_the_partition_key) {
    LogFixture world;
    const NewEvent event{as_bytes("house-7"), as_bytes("open")};
    world.log->append({&event, 1}, [](const Result<Appended>&) {});
    world.run();

    const auto in_memory = world.read_all();
    world.reopen();
    const auto from_disk = world.read_all();

    EXPECT_EQ(in_memory.events.at(0).key, "house-7");
    EXPECT_EQ(from_disk.events.at(0).key, "house-7");
}

TEST(Log, numbers_events_densely_and_offsets_as_event_hubs_does) {
    LogFixture world;

    const auto first = world.append({"12345", "12345", "123456789"});
    const auto second = world.append({"x"});

    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->first.value, 0);
    EXPECT_EQ(first->last.value, 2);
    EXPECT_EQ(first->last_offset.value, 128);
    EXPECT_EQ(second->first.value, 3);
    EXPECT_EQ(second->last_offset.value, 128 + 72);
    const auto read = world.read_all();
    EXPECT_EQ(read.sequences(), (std::vector<std::int64_t>{0, 1, 2, 3}));
    EXPECT_EQ(read.events.at(1).offset, 64);
}

TEST(Log, stores_batches_one_behind_the_other) {
    LogFixture world;
    std::vector<std::string> expected;
    for (int i = 0; i < 20; ++i) {
        const std::string name = "batch " + std::to_string(i);
        world.start_append(Batch({name, name, name}));
        expected.insert(expected.end(), 3, name);
    }
    world.run();

    EXPECT_EQ(world.read_all().bodies(), expected);
}

TEST(Log, refuses_what_can_never_be_stored) {
    LogFixture world;

    EXPECT_EQ(world.append({}).error().code, ErrorCode::invalid_argument);
    const std::string key(key_bytes_max + 1, 'k');
    const NewEvent event{as_bytes(key), {}};
    std::optional<Result<Appended>> outcome;
    world.log->append({&event, 1}, [&](Result<Appended> result) { outcome = std::move(result); });
    EXPECT_EQ(outcome.value().error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(world.log->properties().last_sequence.value, -1);
}

TEST(GroupCommit, shares_one_sync_among_all_that_came_while_one_ran) {
    LogFixture world;
    world.disk_thread.set_latency(5ms, 5ms);
    const auto before = world.metrics.syncs.value();

    world.start_append(Batch({"first"}));  // starts the flush that the others wait for
    for (int i = 0; i < 64; ++i) world.start_append(Batch({"later"}));
    world.run();

    EXPECT_EQ(world.metrics.syncs.value() - before, 2u);
    EXPECT_EQ(world.read_all().events.size(), 65u);
    EXPECT_EQ(world.metrics.events.value(), 65u);
    EXPECT_EQ(world.metrics.bytes.value(), static_cast<std::uint64_t>(world.log->end().value));
}

TEST(GroupCommit, tells_the_time_in_the_queue_apart_from_that_on_the_disk) {
    LogFixture world;
    world.disk_thread.set_latency(100ms, 100ms);

    world.start_append(Batch({"first"}));
    for (int i = 0; i < 9; ++i) world.start_append(Batch({"later"}));  // behind its flush
    world.run();

    EXPECT_EQ(world.metrics.queue_time.count(), 10u);
    EXPECT_GE(world.metrics.queue_time.quantile_seconds(0.05), 0.1);
    EXPECT_GE(world.metrics.queue_time.quantile_seconds(0.5), 0.2);
    EXPECT_EQ(world.metrics.write_time.count(), 2u);
    EXPECT_LT(world.metrics.write_time.quantile_seconds(1), 0.001);
    EXPECT_EQ(world.metrics.sync_time.count(), 2u);
    EXPECT_LT(world.metrics.sync_time.quantile_seconds(1), 0.001);
}

TEST(GroupCommit, takes_turns_of_limited_size_on_the_disk_thread) {
    LogFixture world({.flush_bytes_max = 256});
    const auto before = world.metrics.syncs.value();

    for (int i = 0; i < 13; ++i) world.start_append(Batch({"x"}));  // 64 bytes each
    world.run();

    EXPECT_EQ(world.metrics.syncs.value() - before, 1u + 3u);
    EXPECT_EQ(world.read_all().events.size(), 13u);
}

TEST(Log, answers_in_the_order_of_appends) {
    LogFixture world;
    std::vector<std::int64_t> answers;
    const Batch batch({"x"});
    for (int i = 0; i < 10; ++i) {
        world.log->append(batch.events(), [&](const Result<Appended>& result) {
            answers.push_back(result->first.value);
        });
    }
    world.run();

    EXPECT_EQ(answers, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Visibility, begins_when_the_sync_has_ended) {
    LogFixture world;
    world.disk_thread.set_latency(5ms, 5ms);
    bool synced = false;
    world.disk->set_hook([&](const io::sim::Operation& operation) {
        synced = synced || operation.kind == io::sim::OperationKind::sync;
    });

    const auto outcome = world.start_append(Batch({"x"}));

    while (!outcome->has_value()) {
        EXPECT_TRUE(world.read_all().events.empty());
        EXPECT_EQ(world.log->properties().last_sequence.value, -1);
        ASSERT_TRUE(world.scheduler.step());
    }
    EXPECT_TRUE(synced);
    EXPECT_EQ(world.read_all().bodies(), std::vector<std::string>{"x"});
}

TEST(Visibility, is_complete_when_a_callback_looks) {
    LogFixture world;
    world.disk_thread.set_latency(5ms, 5ms);
    const Batch batch({"x"});
    std::vector<std::int64_t> last_seen;
    for (int i = 0; i < 3; ++i) {
        world.log->append(batch.events(), [&](const Result<Appended>&) {
            const auto cursor = world.log->seek(Position::latest());
            EXPECT_EQ(cursor->sequence.value, world.log->properties().last_sequence.value + 1);
            EXPECT_EQ(world.read(Position::at_sequence(cursor->sequence.value - 1)).events.size(),
                      1u);
            last_seen.push_back(world.log->properties().last_sequence.value);
        });
    }
    world.run();

    EXPECT_EQ(last_seen, (std::vector<std::int64_t>{0, 2, 2}));  // the last two shared a flush
}

TEST(Waiters, run_once_when_there_is_something_at_their_cursor) {
    LogFixture world;
    world.append_numbers(0, 1);
    auto at_end = world.log->seek(Position::latest());
    auto at_start = world.log->seek(Position::earliest());
    int woken_at_end = 0;
    int woken_at_start = 0;

    world.log->wait(*at_end, [&] { ++woken_at_end; });
    world.log->wait(*at_start, [&] { ++woken_at_start; });
    EXPECT_EQ(woken_at_end, 0);
    EXPECT_EQ(woken_at_start, 1);

    world.append_numbers(1, 3);
    EXPECT_EQ(woken_at_end, 1);
    Read read;
    world.read_on(*at_end, read);
    EXPECT_EQ(read.bodies(), numbers(1, 3));
}

TEST(Waiters, do_not_run_once_cancelled) {
    LogFixture world;
    bool woken = false;

    const auto id = world.log->wait(*world.log->seek(Position::latest()), [&] { woken = true; });
    world.log->cancel(id);
    world.append_numbers(0, 1);

    EXPECT_FALSE(woken);
}

TEST(Waiters, may_wait_again_when_they_run) {
    LogFixture world;
    auto cursor = *world.log->seek(Position::latest());
    Read read;
    std::function<void()> wait = [&] {
        world.log->wait(cursor, [&] {
            world.read_on(cursor, read);
            wait();
        });
    };
    wait();

    world.append_numbers(0, 5);

    EXPECT_EQ(read.bodies(), numbers(0, 5));
}

TEST(EnqueuedTime, is_the_wall_clock_and_never_falls_when_it_steps_back) {
    LogFixture world;
    const auto noon = world.append({"a"})->enqueued;
    EXPECT_EQ(noon, world.loop.clock().wall());

    world.loop.set_wall_skew(-3600s);
    EXPECT_EQ(world.append({"b"})->enqueued, noon);
    world.reopen();
    EXPECT_EQ(world.append({"c"})->enqueued, noon);
    world.loop.set_wall_skew(5ms);
    EXPECT_GT(world.append({"d"})->enqueued, noon);
}

TEST(Properties, of_a_log_that_was_never_used_are_minus_one) {
    LogFixture world;
    for (int restarts = 0; restarts < 2; ++restarts) {
        const auto properties = world.log->properties();

        EXPECT_TRUE(properties.is_empty);
        EXPECT_EQ(properties.begin_sequence.value, -1);
        EXPECT_EQ(properties.last_sequence.value, -1);
        EXPECT_EQ(properties.last_offset.value, -1);
        EXPECT_EQ(properties.last_enqueued.milliseconds, 0);
        world.reopen();
    }
}

TEST(Properties, tell_first_and_last_event) {
    LogFixture world;
    world.append_numbers(0, 10);
    for (int restarts = 0; restarts < 2; ++restarts) {
        const auto properties = world.log->properties();

        EXPECT_FALSE(properties.is_empty);
        EXPECT_EQ(properties.begin_sequence.value, 0);
        EXPECT_EQ(properties.last_sequence.value, 9);
        EXPECT_EQ(properties.last_offset.value, 9 * 64);
        EXPECT_EQ(properties.last_enqueued, world.loop.clock().wall());
        EXPECT_EQ(properties.bytes, 10u * 64 + segment_header_bytes);
        world.reopen();
    }
}

TEST(Rolling, starts_a_segment_when_the_next_batch_does_not_fit) {
    LogFixture world({.segment_bytes_max = 256});

    world.append_numbers(0, 4);
    EXPECT_EQ(world.segment_files(), 1u);
    world.append_numbers(4, 9);
    EXPECT_EQ(world.segment_files(), 3u);

    EXPECT_EQ(world.read_all().bodies(), numbers(0, 9));
    world.reopen();
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 9));
    EXPECT_EQ(world.append({"9"})->first.value, 9);
}

TEST(Rolling, keeps_a_batch_that_is_larger_than_a_segment_in_one_file) {
    LogFixture world({.segment_bytes_max = 256});
    world.append_numbers(0, 1);

    ASSERT_TRUE(world.append(numbers(1, 11)).ok());
    world.append_numbers(11, 12);

    EXPECT_EQ(world.segment_files(), 3u);
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 12));
    world.reopen();
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 12));
}

TEST(Rolling, goes_on_within_one_flush) {
    LogFixture world({.segment_bytes_max = 256});
    world.disk_thread.set_latency(5ms, 5ms);
    for (int i = 0; i < 20; ++i) world.start_append(Batch({std::to_string(i)}));
    world.run();

    EXPECT_EQ(world.segment_files(), 5u);
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 20));
    world.kill_and_reopen();
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 20));
}

TEST(Close, flushes_what_was_taken) {
    LogFixture world;
    world.disk_thread.set_latency(5ms, 5ms);
    world.start_append(Batch({"a"}));
    const auto second = world.start_append(Batch({"b"}));

    world.close();

    ASSERT_TRUE(second->has_value());
    EXPECT_TRUE((*second)->ok());
    Random random(test::test_seed());
    world.disk = world.disk->crash(random, io::sim::CrashPolicy::drop_all);
    world.open();
    EXPECT_EQ(world.read_all().bodies(), (std::vector<std::string>{"a", "b"}));
}

TEST(Close, refuses_from_then_on) {
    LogFixture world;
    bool closed = false;
    world.log->close([&] { closed = true; });

    EXPECT_EQ(world.append({"late"}).error().code, ErrorCode::cancelled);
    std::optional<Result<>> purged;
    world.log->purge({0}, [&](Result<> result) { purged = result; });
    EXPECT_EQ(purged.value().error().code, ErrorCode::cancelled);
    world.run();
    EXPECT_TRUE(closed);
}

TEST(Durability, os_acknowledges_without_a_sync) {
    LogFixture world({.durability = Durability::os});
    std::uint64_t syncs = 0;
    world.disk->set_hook([&](const io::sim::Operation& operation) {
        syncs += operation.kind == io::sim::OperationKind::sync;
    });

    world.append_numbers(0, 10);

    EXPECT_EQ(syncs, 0u);
    EXPECT_EQ(world.metrics.syncs.value(), 0u);
    world.kill_and_reopen();
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 10));
}

}  // namespace
}  // namespace evenkeel::commitlog
