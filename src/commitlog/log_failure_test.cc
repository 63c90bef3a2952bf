// A log on a disk that is slow, full or failing.
#include <gtest/gtest.h>

#include "commitlog/log_fixture.h"

namespace evenkeel::commitlog {
namespace {

using namespace std::chrono_literals;
using io::sim::CrashPolicy;
using io::sim::Fault;
using io::sim::OperationKind;

TEST(Overload, refuses_when_too_much_waits_for_the_disk) {
    LogFixture world({.pending_bytes_max = 256});
    world.disk_thread.set_latency(5ms, 5ms);
    for (int i = 0; i < 4; ++i) world.start_append(Batch({std::to_string(i)}));

    const auto refused = world.start_append(Batch({"too much"}));

    ASSERT_TRUE(refused->has_value());
    EXPECT_EQ((*refused)->error().code, ErrorCode::overloaded);
    EXPECT_EQ((*refused)->error().detail, "256 bytes wait for the disk already; try again soon");
    world.run();
    EXPECT_TRUE(world.append({"4"}).ok());
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 5));
}

TEST(Overload, takes_a_batch_larger_than_the_limit_when_nothing_waits) {
    LogFixture world({.pending_bytes_max = 256});

    EXPECT_TRUE(world.append(numbers(0, 100)).ok());
}

TEST(DiskFull, refuses_with_overloaded_and_recovers_by_itself) {
    LogFixture world;
    world.append_numbers(0, 3);
    const auto room = world.disk->file_size(test_directory + "/" + log_name({{0}, {0}})) +
                      world.disk->file_size(test_directory + "/mark");
    world.disk->set_capacity_bytes(room + 100);  // part of the next batch fits

    const auto refused = world.append({"a", "b", "c"});
    EXPECT_EQ(refused.error().code, ErrorCode::overloaded);
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 3));
    EXPECT_EQ(world.log->properties().last_sequence.value, 2);

    world.disk->set_capacity_bytes(1 << 20);
    EXPECT_EQ(world.append({"3"})->first.value, 3);
    world.kill_and_reopen();
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 4));
    EXPECT_EQ(world.segment_files(), 2u);  // a file that refused takes nothing more
    EXPECT_TRUE(world.log->damages().empty());
}

TEST(DiskFull, at_a_roll_leaves_the_segments_as_they_were) {
    LogFixture world({.segment_bytes_max = 256});
    world.append_numbers(0, 4);
    world.disk->set_capacity_bytes(256 + 64 + 576);

    EXPECT_EQ(world.append({"refused"}).error().code, ErrorCode::overloaded);
    EXPECT_EQ(world.segment_files(), 1u);

    world.disk->set_capacity_bytes(1 << 20);
    world.append_numbers(4, 10);
    world.kill_and_reopen();
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 10));
    EXPECT_EQ(world.append({"10"})->first.value, 10);
}

TEST(FailedCreation, never_hides_what_is_stored_afterwards) {
    for (const auto kind : {OperationKind::write, OperationKind::sync,
                            OperationKind::sync_directory, OperationKind::create}) {
        LogFixture world({.segment_bytes_max = 256});
        world.append_numbers(0, 3);
        world.disk->fail({.kind = kind, .path_contains = test_directory});
        ASSERT_FALSE(world.append({std::string(200, 'x')}).ok());  // does not fit: rolls

        world.append_numbers(3, 6);  // the first would fit into the old segment

        Random random(test::test_seed());
        for (int image = 0; image < 20; ++image) {
            const auto crashed = world.disk->crash(random);
            const auto recovered = recover(*crashed, test_directory, test_identity, 65536);
            ASSERT_TRUE(recovered.ok());
            EXPECT_EQ(recovered->mark.end_sequence.value, 6);
        }
        world.kill_and_reopen();
        EXPECT_EQ(world.read_all().bodies(), numbers(0, 6));
    }
}

TEST(FailedSync, refuses_everything_under_way_and_goes_on_in_a_new_segment) {
    LogFixture world;
    world.append_numbers(0, 3);
    world.disk->fail({.kind = OperationKind::sync, .path_contains = ".log"});
    world.disk_thread.set_latency(5ms, 5ms);

    const auto first = world.start_append(Batch({"lost"}));
    const auto second = world.start_append(Batch({"lost too"}));
    world.run();

    EXPECT_EQ((*first)->error().code, ErrorCode::unavailable);
    EXPECT_EQ((*second)->error().code, ErrorCode::unavailable);
    EXPECT_TRUE((*first)->error().detail.starts_with("not stored: ")) << (*first)->error().detail;
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 3));

    EXPECT_EQ(world.append({"3"})->first.value, 3);
    EXPECT_EQ(world.segment_files(), 2u);
    Random random(test::test_seed());
    world.log.reset();
    world.disk = world.disk->crash(random, CrashPolicy::drop_all);
    world.open();
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 4));
}

TEST(FailedSync, makes_one_new_segment_however_many_batches_wait_for_it) {
    LogFixture world;
    world.append_numbers(0, 1);
    world.disk->fail({.kind = OperationKind::sync, .path_contains = ".log"});
    ASSERT_FALSE(world.append({"lost"}).ok());
    world.disk_thread.set_latency(5ms, 5ms);

    for (int i = 1; i < 10; ++i) world.start_append(Batch({std::to_string(i)}));
    world.run();

    EXPECT_EQ(world.segment_files(), 2u);
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 10));
}

TEST(FailedSync, of_an_empty_segment_writes_it_again_from_its_header_on) {
    LogFixture world;
    world.disk->fail({.kind = OperationKind::sync, .path_contains = ".log"});
    ASSERT_FALSE(world.append({"lost"}).ok());

    world.append_numbers(0, 2);

    EXPECT_EQ(world.segment_files(), 1u);
    Random random(test::test_seed());
    world.log.reset();
    world.disk = world.disk->crash(random, CrashPolicy::drop_all);
    world.open();
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 2));
}

TEST(FailedSync, many_times_in_a_row_loses_nothing_that_was_acknowledged) {
    Random random(test::test_seed());
    LogFixture world({.segment_bytes_max = 512});
    std::vector<std::string> stored;
    for (int i = 0; i < 200; ++i) {
        const auto kind = static_cast<OperationKind>(random.below(11));
        const auto fault = static_cast<Fault>(random.below(3));
        if (random.chance(1, 2)) {
            world.disk->fail({.kind = kind, .after = random.below(3), .fault = fault});
        }
        const std::string body = std::to_string(i);
        if (world.append({body, body}).ok()) stored.insert(stored.end(), 2, body);
        world.disk->clear_faults();
        ASSERT_EQ(world.read_all().bodies(), stored) << i;
    }
    EXPECT_LT(stored.size(), 400u);
    world.kill_and_reopen();
    EXPECT_EQ(world.read_all().bodies(), stored);
}

TEST(FailedWrite, leaves_no_half_batch_behind) {
    LogFixture world;
    world.append_numbers(0, 3);
    world.disk->fail(
        {.kind = OperationKind::write, .path_contains = ".log", .fault = Fault::short_write});

    EXPECT_EQ(world.append(numbers(10, 20)).error().code, ErrorCode::unavailable);
    world.kill_and_reopen();

    EXPECT_EQ(world.read_all().bodies(), numbers(0, 3));
    EXPECT_EQ(world.append({"3"})->first.value, 3);
}

TEST(FailedIndex, changes_nothing_but_the_speed_of_a_search) {
    LogFixture world({.segment_bytes_max = 1024, .index_distance = 64});
    world.disk->fail({.kind = OperationKind::write, .path_contains = ".idx", .times = 1000});
    world.append_numbers(0, 40);
    world.reopen();

    for (int i = 0; i < 40; i += 7) {
        EXPECT_EQ(world.read(Position::at_sequence(i)).bodies(), numbers(i, 40));
    }
}

TEST(FailedMark, does_not_stop_appends) {
    LogFixture world;
    world.disk->fail({.kind = OperationKind::write, .path_contains = "mark", .times = 1000});

    world.append_numbers(0, 10);
    world.log.reset();
    world.disk->clear_faults();
    world.kill_and_reopen();

    EXPECT_EQ(world.read_all().bodies(), numbers(0, 10));
}

TEST(Callbacks, that_append_again_after_a_refusal_are_served) {
    LogFixture world;
    world.disk->fail({.kind = OperationKind::sync, .path_contains = ".log"});
    const Batch batch({"again"});
    std::optional<Result<Appended>> second;
    world.log->append(batch.events(), [&](const Result<Appended>& first) {
        EXPECT_FALSE(first.ok());
        world.log->append(batch.events(), [&](Result<Appended> result) { second = result; });
    });
    world.run();

    ASSERT_TRUE(second.has_value());
    EXPECT_TRUE(second->ok());
    EXPECT_EQ(world.read_all().sequences(), std::vector<std::int64_t>{0});
}

TEST(ReadOnlyDisk, refuses_appends_but_not_reads_and_comes_back) {
    LogFixture world({.segment_bytes_max = 256});
    world.append_numbers(0, 6);
    for (const auto kind : {OperationKind::write, OperationKind::create, OperationKind::sync,
                            OperationKind::truncate, OperationKind::remove}) {
        world.disk->fail({.kind = kind, .times = 1'000'000});
    }

    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(world.append({"refused"}).error().code, ErrorCode::unavailable);
    }
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 6));

    world.disk->clear_faults();
    world.append_numbers(6, 9);
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 9));
    world.kill_and_reopen();
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 9));
}

}  // namespace
}  // namespace evenkeel::commitlog
