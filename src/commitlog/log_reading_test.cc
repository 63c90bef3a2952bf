// Seeking and reading, wherever the events are.
#include <gtest/gtest.h>

#include "base/time_point.h"
#include "commitlog/log_fixture.h"

namespace evenkeel::commitlog {
namespace {

using namespace std::chrono_literals;

// Twenty events of 64 bytes, "0" to "19", four in each segment, two in each millisecond.
enum class Where { memory, one_file, segments, segments_with_index, segments_without_index };

class Seek : public testing::TestWithParam<Where> {
protected:
    Seek() : world(options()) {
        first_time = world.loop.clock().wall().milliseconds;
        for (int i = 0; i < 20; ++i) {
            EXPECT_TRUE(world.append({std::to_string(i)}).ok());
            if (i % 2 == 1) world.scheduler.run_for(1ms);
        }
        if (GetParam() != Where::memory) world.reopen();
        if (GetParam() == Where::segments_without_index) {
            for (const auto& file : world.disk->files()) {
                if (!file.ends_with(".idx")) continue;
                EXPECT_TRUE(world.disk->remove(file).ok());
            }
        }
    }
    static LogOptions options() {
        LogOptions options;
        const bool many = GetParam() != Where::memory && GetParam() != Where::one_file;
        if (many) options.segment_bytes_max = 256;
        if (GetParam() == Where::segments_with_index) options.index_distance = 64;
        return options;
    }
    std::vector<std::string> from(const Position& position) {
        const auto read = world.read(position, 100);
        const bool in_memory = GetParam() == Where::memory;
        EXPECT_TRUE(in_memory ? read.cold_reads == 0 : read.cold_reads > 0 || read.events.empty());
        EXPECT_FALSE(read.error.has_value());
        EXPECT_TRUE(read.damages.empty());
        return read.bodies();
    }

    LogFixture world;
    std::int64_t first_time = 0;
};

TEST_P(Seek, earliest_begins_at_the_first_event) {
    EXPECT_EQ(from(Position::earliest()), numbers(0, 20));
}

TEST_P(Seek, latest_begins_behind_the_last_event) {
    EXPECT_TRUE(from(Position::latest()).empty());
}

TEST_P(Seek, a_number_begins_at_it_or_behind_it) {
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(from(Position::at_sequence(i)), numbers(i, 20));
        EXPECT_EQ(from(Position::after_sequence(i)), numbers(i + 1, 20));
    }
}

TEST_P(Seek, an_offset_begins_at_it_or_behind_it) {
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(from(Position::at_offset(i * 64)), numbers(i, 20));
        EXPECT_EQ(from(Position::after_offset(i * 64)), numbers(i + 1, 20));
    }
}

TEST_P(Seek, behind_the_last_event_reads_no_file) {
    EXPECT_EQ(world.read(Position::after_sequence(19)).cold_reads, 0u);
    EXPECT_EQ(world.read(Position::after_offset(19 * 64)).cold_reads, 0u);
}

TEST_P(Seek, an_offset_between_two_events_begins_at_the_later_one) {
    EXPECT_EQ(from(Position::at_offset(5 * 64 + 1)), numbers(6, 20));
    EXPECT_EQ(from(Position::after_offset(5 * 64 + 63)), numbers(6, 20));
}

TEST_P(Seek, a_time_begins_at_the_first_event_of_it_or_behind_the_last) {
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(from(Position::at_time(time_point({first_time + i}))), numbers(2 * i, 20)) << i;
        EXPECT_EQ(from(Position::after_time(time_point({first_time + i}))), numbers(2 * i + 2, 20))
            << i;
    }
    EXPECT_EQ(from(Position::at_time({})), numbers(0, 20));
}

TEST_P(Seek, a_time_to_come_begins_with_the_first_event_then) {
    auto cursor = *world.log->seek(Position::at_time(time_point({first_time + 1000})));
    Read read;
    world.read_on(cursor, read);
    EXPECT_TRUE(read.events.empty());

    world.append_numbers(20, 21);
    world.scheduler.run_for(1s);
    world.append_numbers(21, 22);

    world.read_on(cursor, read);
    EXPECT_EQ(read.bodies(), numbers(21, 22));
}

TEST_P(Seek, beyond_the_end_is_refused_with_the_last_position) {
    const auto offset = world.log->seek(Position::at_offset(20 * 64));
    const auto number = world.log->seek(Position::after_sequence(20));

    ASSERT_FALSE(offset.ok());
    EXPECT_EQ(offset.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(offset.error().detail,
              "The supplied offset '1280' is invalid. The last offset in the system is '1216'");
    ASSERT_FALSE(number.ok());
    EXPECT_EQ(number.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(number.error().detail,
              "The supplied sequence number '20' is invalid. The last sequence number in the "
              "system is '19'");
}

TEST_P(Seek, minus_one_begins_at_the_first_event) {
    EXPECT_EQ(from(Position::after_offset(-1)), numbers(0, 20));
    EXPECT_EQ(from(Position::after_sequence(-1)), numbers(0, 20));
    EXPECT_FALSE(world.log->seek(Position::after_offset(-2)).ok());
    EXPECT_FALSE(world.log->seek(Position::after_sequence(-2)).ok());
}

TEST_P(Seek, below_the_start_begins_at_the_first_event_there_is) {
    ASSERT_TRUE(world.purge(7).ok());

    EXPECT_EQ(from(Position::at_offset(0)), numbers(7, 20));
    EXPECT_EQ(from(Position::after_sequence(2)), numbers(7, 20));
    EXPECT_EQ(from(Position::at_time(time_point({first_time}))), numbers(7, 20));
    for (int i = 7; i < 20; ++i) {
        EXPECT_EQ(from(Position::at_sequence(i)), numbers(i, 20));
        EXPECT_EQ(from(Position::at_offset(i * 64)), numbers(i, 20));
    }
}

INSTANTIATE_TEST_SUITE_P(Wherever, Seek,
                         testing::Values(Where::memory, Where::one_file, Where::segments,
                                         Where::segments_with_index, Where::segments_without_index),
                         [](const auto& test) {
                             switch (test.param) {
                                 case Where::memory: return "in_memory";
                                 case Where::one_file: return "in_one_file";
                                 case Where::segments: return "in_short_segments";
                                 case Where::segments_with_index:
                                     return "in_segments_with_an_index";
                                 case Where::segments_without_index: break;
                             }
                             return "in_segments_that_lost_their_index";
                         });

TEST(Reading, goes_from_sealed_segments_over_the_active_file_to_memory) {
    LogFixture world({.segment_bytes_max = 256});
    world.append_numbers(0, 10);
    world.reopen();
    world.append_numbers(10, 20);

    const auto read = world.read_all();

    EXPECT_EQ(read.bodies(), numbers(0, 20));
    EXPECT_EQ(read.sequences().back(), 19);
    EXPECT_GT(read.cold_reads, 0u);
}

TEST(Reading, gives_at_least_one_event_however_small_the_limit) {
    LogFixture world;
    const std::string large(100'000, 'x');
    ASSERT_TRUE(world.append({large, "small", large}).ok());

    const auto in_memory = world.read(Position::earliest(), 1);
    world.reopen();
    const auto from_disk = world.read(Position::earliest(), 1);

    EXPECT_EQ(in_memory.bodies(), (std::vector<std::string>{large, "small", large}));
    EXPECT_EQ(from_disk.bodies(), (std::vector<std::string>{large, "small", large}));
}

TEST(Reading, stays_within_the_limit_in_memory) {
    LogFixture world;
    ASSERT_TRUE(world.append(numbers(0, 100)).ok());
    auto cursor = *world.log->seek(Position::earliest());

    const auto step = world.log->read(cursor, 64 * 10 + 63);

    EXPECT_EQ(std::get<Slice>(step).bytes().size(), 640u);
    EXPECT_EQ(cursor.sequence.value, 10);
}

TEST(Reading, is_served_from_memory_close_to_the_end_and_from_disk_before) {
    LogFixture world({.tail_bytes_max = 8 << 10});
    ASSERT_TRUE(world.append({std::string(100, 'a')}).ok());
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(world.append({std::string(1000, 'b')}).ok());

    EXPECT_GT(world.read_all().cold_reads, 0u);
    EXPECT_EQ(world.read(Position::at_sequence(99)).cold_reads, 0u);
}

TEST(Reading, keeps_a_slice_alive_when_memory_moves_on) {
    LogFixture world({.tail_bytes_max = 0});
    world.append_numbers(0, 3);
    auto cursor = *world.log->seek(Position::earliest());
    const auto slice = std::get<Slice>(world.log->read(cursor, 1000));

    for (int i = 0; i < 100; ++i) ASSERT_TRUE(world.append({std::string(1000, 'b')}).ok());
    world.close();

    EXPECT_EQ(seen(*slice.begin()).body, "0");
}

TEST(Reading, goes_on_after_a_search_that_a_purge_moved_inside_a_chunk) {
    LogFixture world({.segment_bytes_max = 256});
    world.append_numbers(0, 10);
    ASSERT_TRUE(world.purge(1).ok());

    EXPECT_EQ(world.read(Position::at_sequence(2), 64).bodies(), numbers(2, 10));
}

TEST(Index, is_written_again_by_the_search_that_missed_it) {
    LogFixture world({.segment_bytes_max = 400'000});
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(world.append({std::string(60'000, 'a')}).ok());
    }
    world.reopen();
    const std::string path = test_directory + "/" + index_name({{0}, {0}});
    ASSERT_TRUE(world.disk->remove(path).ok());

    EXPECT_EQ(world.read(Position::at_sequence(4)).events.size(), 6u);

    EXPECT_GT(world.disk->file_size(path), 0u);
    EXPECT_EQ(world.read(Position::at_sequence(4)).events.size(), 6u);
}

TEST(Index, that_is_garbage_changes_nothing) {
    LogFixture world({.segment_bytes_max = 1024, .index_distance = 64});
    world.append_numbers(0, 40);
    world.close();
    for (const auto& file : world.disk->files()) {
        if (!file.ends_with(".idx")) continue;
        Random random(test::test_seed());
        std::vector<std::byte> garbage(world.disk->file_size(file));
        random.fill(garbage);
        world.disk->overwrite(file, 0, garbage);
    }
    world.open();

    for (int i = 0; i < 40; ++i) {
        EXPECT_EQ(world.read(Position::at_sequence(i)).bodies(), numbers(i, 40));
    }
    EXPECT_TRUE(world.log->damages().empty());
}

}  // namespace
}  // namespace evenkeel::commitlog
