// Retention and purge of a log, in virtual time.
#include <gtest/gtest.h>

#include "commitlog/log_fixture.h"

namespace evenkeel::commitlog {
namespace {

using namespace std::chrono_literals;

const RetentionPolicy an_hour{.age_max = 1h, .bytes_max = std::nullopt};
// Four events of 64 bytes.

// What must survive every restart.
struct Numbers {
    std::int64_t begin;
    std::int64_t last;
    std::int64_t last_offset;
    std::int64_t last_enqueued;
    bool is_empty;
    auto operator<=>(const Numbers&) const = default;
};

Numbers numbers_of(const Log& log) {
    const auto properties = log.properties();
    return {properties.begin_sequence.value, properties.last_sequence.value,
            properties.last_offset.value, properties.last_enqueued.milliseconds,
            properties.is_empty};
}

TEST(LogRetention, removes_segments_when_all_their_events_are_older) {
    LogFixture world(short_segments);
    RetentionClock clock(world.loop.clock());
    world.append_numbers(0, 6);  // sealed: 0 to 3
    world.scheduler.run_for(30min);
    world.append_numbers(6, 10);  // sealed: 4 to 7, of two ages

    world.scheduler.run_for(30min + 1s);
    world.retain(an_hour, clock.now());

    EXPECT_EQ(world.read_all().bodies(), numbers(4, 10));
    EXPECT_EQ(world.segment_files(), 2u);
    world.scheduler.run_for(30min);
    world.retain(an_hour, clock.now());
    EXPECT_EQ(world.read_all().bodies(), numbers(8, 10));
    EXPECT_EQ(world.log->properties().begin_sequence.value, 8);
}

TEST(LogRetention, still_delivers_expired_events_of_a_segment_that_is_not_full) {
    LogFixture world(short_segments);
    RetentionClock clock(world.loop.clock());
    world.append_numbers(0, 3);

    world.scheduler.run_for(24h);
    world.retain(an_hour, clock.now());
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 3));

    world.append_numbers(3, 5);  // now it is full, and its last event is new
    world.retain(an_hour, clock.now());
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 5));

    world.scheduler.run_for(1h + 1s);
    world.retain(an_hour, clock.now());
    EXPECT_EQ(world.read_all().bodies(), numbers(4, 5));
}

TEST(LogRetention, ages_nothing_when_the_wall_clock_steps) {
    LogFixture world(short_segments);
    RetentionClock clock(world.loop.clock());
    world.append_numbers(0, 6);

    world.loop.set_wall_skew(24h * 365);
    world.retain(an_hour, clock.now());

    EXPECT_EQ(world.read_all().bodies(), numbers(0, 6));
}

TEST(LogRetention, holds_the_size_limit_with_sealed_segments) {
    LogFixture world(short_segments);
    world.append_numbers(0, 18);  // 4 sealed segments of 320 bytes and 192 bytes

    world.retain({.age_max = {}, .bytes_max = 900}, world.loop.clock().wall());

    EXPECT_EQ(world.read_all().bodies(), numbers(8, 18));
    EXPECT_EQ(world.log->properties().bytes, 2u * 320 + 192);
}

TEST(LogRetention, survives_a_restart) {
    LogFixture world(short_segments);
    world.append_numbers(0, 10);
    world.scheduler.run_for(2h);
    world.retain(an_hour, world.loop.clock().wall());
    const auto before = numbers_of(*world.log);

    world.reopen();

    EXPECT_EQ(numbers_of(*world.log), before);
    EXPECT_EQ(world.read_all().bodies(), numbers(8, 10));
}

TEST(LogRetention, that_empties_the_log_keeps_its_numbers_over_five_restarts) {
    LogFixture world(short_segments);
    world.append_numbers(0, 4);
    const auto full = numbers_of(*world.log);
    ASSERT_TRUE(world.append({std::string(256, 'x')}).ok());  // fills a segment alone
    world.scheduler.run_for(2h);

    for (int round = 0; round < 3; ++round) world.retain(an_hour, world.loop.clock().wall());
    const auto emptied = numbers_of(*world.log);

    EXPECT_TRUE(emptied.is_empty);
    EXPECT_EQ(emptied.last, 4);
    EXPECT_EQ(emptied.begin, emptied.last);
    EXPECT_EQ(emptied.last_offset, 256);
    EXPECT_EQ(emptied.last_enqueued, full.last_enqueued);
    EXPECT_EQ(world.segment_files(), 1u);
    for (int restart = 0; restart < 5; ++restart) {
        if (restart % 2 == 0) {
            world.reopen();
        } else {
            world.kill_and_reopen();
        }
        EXPECT_EQ(numbers_of(*world.log), emptied) << restart;
    }
    EXPECT_EQ(world.append({"next"})->first.value, 5);
    EXPECT_EQ(world.read_all().bodies(), std::vector<std::string>{"next"});
}

TEST(LogRetention, lets_a_reader_that_was_overtaken_go_on_at_the_first_event) {
    LogFixture world(short_segments);
    world.append_numbers(0, 10);
    world.reopen();
    auto cursor = *world.log->seek(Position::at_sequence(1));
    world.scheduler.run_for(2h);

    world.retain(an_hour, world.loop.clock().wall());
    Read read;
    world.read_on(cursor, read);

    EXPECT_EQ(read.bodies(), numbers(8, 10));
    EXPECT_TRUE(read.damages.empty());
}

TEST(LogRetention, leaves_an_open_file_to_its_reader_and_tells_the_others) {
    LogFixture world(short_segments);
    world.append_numbers(0, 10);
    world.reopen();
    auto first = *world.log->seek(Position::earliest());
    auto second = *world.log->seek(Position::at_sequence(5));
    const auto opened = std::get<ColdRead>(world.log->read(first, 64));
    const auto not_opened = std::get<ColdRead>(world.log->read(second, 64));
    ASSERT_TRUE(opened.perform().ok());
    world.scheduler.run_for(2h);

    world.retain(an_hour, world.loop.clock().wall());

    const auto outcome = opened.perform();
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(seen(*outcome->events.begin()).body, "0");
    EXPECT_EQ(not_opened.perform().error().code, ErrorCode::not_found);
    Read read;
    world.read_on(second, read);
    EXPECT_EQ(read.bodies(), numbers(8, 10));
}

TEST(LogRetention, goes_by_the_events_own_times_when_a_header_is_damaged) {
    LogFixture world(short_segments);
    world.append_numbers(0, 4);
    world.scheduler.run_for(2h);
    world.append_numbers(4, 9);
    world.close();
    world.disk->flip_bit(test_directory + "/" + log_name({{4}, {256}}), 60, 2);
    world.open();

    world.retain(an_hour, world.loop.clock().wall());

    EXPECT_EQ(world.read_all().bodies(), numbers(0, 9));  // later than needed, never earlier
    world.scheduler.run_for(2h);
    world.retain(an_hour, world.loop.clock().wall());
    EXPECT_EQ(world.read_all().bodies(), numbers(8, 9));
}

TEST(LogRetention, tries_again_what_the_disk_did_not_remove) {
    LogFixture world(short_segments);
    world.append_numbers(0, 10);
    world.disk->fail({.kind = io::sim::OperationKind::remove, .path_contains = ".log"});
    world.scheduler.run_for(2h);
    world.retain(an_hour, world.loop.clock().wall());
    EXPECT_EQ(world.read_all().bodies(), numbers(8, 10));
    EXPECT_GT(world.segment_files(), 1u);

    world.append_numbers(10, 14);
    world.scheduler.run_for(2h);
    world.retain(an_hour, world.loop.clock().wall());

    EXPECT_EQ(world.segment_files(), 1u);
}

TEST(Purge, removes_the_events_before_a_number) {
    for (const std::int64_t first : {0, 1, 3, 4, 5, 8, 9}) {
        LogFixture world(short_segments);
        world.append_numbers(0, 10);
        if (first % 2 == 0) world.reopen();  // from memory or from disk

        ASSERT_TRUE(world.purge(first).ok());
        const auto after = numbers_of(*world.log);

        EXPECT_EQ(after.begin, first);
        EXPECT_EQ(after.last, 9);
        EXPECT_EQ(world.read_all().bodies(), numbers(static_cast<int>(first), 10));
        EXPECT_EQ(world.segment_files(), 3u - static_cast<std::size_t>(first) / 4);
        world.kill_and_reopen();
        EXPECT_EQ(numbers_of(*world.log), after);
        EXPECT_EQ(world.read_all().bodies(), numbers(static_cast<int>(first), 10));
    }
}

TEST(Purge, of_everything_keeps_the_numbers) {
    for (const std::int64_t first : {10, 11, 1'000'000}) {
        LogFixture world(short_segments);
        world.append_numbers(0, 10);
        const auto before = numbers_of(*world.log);

        ASSERT_TRUE(world.purge(first).ok());
        const auto after = numbers_of(*world.log);

        EXPECT_TRUE(after.is_empty);
        EXPECT_EQ(after.begin, 9);
        EXPECT_EQ(after.last, 9);
        EXPECT_EQ(after.last_offset, before.last_offset);
        EXPECT_EQ(after.last_enqueued, before.last_enqueued);
        EXPECT_EQ(world.segment_files(), 1u);
        EXPECT_EQ(world.log->properties().bytes, segment_header_bytes);
        for (int restart = 0; restart < 5; ++restart) {
            world.reopen();
            EXPECT_EQ(numbers_of(*world.log), after) << restart;
        }
        EXPECT_EQ(world.append({"10"})->first.value, 10);
        EXPECT_EQ(world.read_all().bodies(), numbers(10, 11));
    }
}

TEST(Purge, of_nothing_changes_nothing) {
    LogFixture world(short_segments);
    ASSERT_TRUE(world.purge(5).ok());  // nothing there yet
    EXPECT_EQ(world.append({"0"})->first.value, 0);
    world.append_numbers(1, 3);

    ASSERT_TRUE(world.purge(0).ok());
    ASSERT_TRUE(world.purge(-1).ok());

    EXPECT_EQ(world.read_all().bodies(), numbers(0, 3));
}

TEST(Purge, while_events_are_on_their_way_spares_them) {
    LogFixture world(short_segments);
    world.append_numbers(0, 3);
    world.disk_thread.set_latency(5ms, 5ms);
    for (int i = 3; i < 9; ++i) world.start_append(Batch({std::to_string(i)}));

    ASSERT_TRUE(world.purge(100).ok());

    EXPECT_EQ(world.read_all().bodies(), numbers(3, 9));
    world.reopen();
    EXPECT_EQ(world.read_all().bodies(), numbers(3, 9));
}

TEST(Purge, during_a_flush_leaves_the_mark_where_the_flush_put_it) {
    LogFixture world;
    world.append_numbers(0, 3);
    world.start_append(Batch({"3"}));
    ASSERT_TRUE(world.purge(1).ok());

    const auto mark = read_mark(*world.disk, test_directory, test_identity.seed());

    EXPECT_EQ((**mark).start_sequence.value, 1);
    EXPECT_EQ((**mark).end_sequence.value, 4);
}

TEST(Purge, fails_when_its_mark_cannot_be_made_durable) {
    LogFixture world(short_segments);
    world.append_numbers(0, 10);
    world.disk->fail({.kind = io::sim::OperationKind::sync, .path_contains = "mark"});

    EXPECT_EQ(world.purge(5).error().code, ErrorCode::unavailable);

    world.kill_and_reopen();
    const auto begin = world.log->properties().begin_sequence.value;
    EXPECT_EQ(world.read_all().bodies(), numbers(static_cast<int>(begin), 10));
}

}  // namespace
}  // namespace evenkeel::commitlog
