#include "commitlog/stream.h"

#include <gtest/gtest.h>

#include "io/sim/disk.h"

namespace evenkeel::commitlog {
namespace {

const LogIdentity stream_identity{Incarnation{std::byte{7}}, PartitionId{3}};
constexpr std::int64_t record_bytes = 64;

// A stream that was recovered with one segment at the mark's end.
class StreamTest : public testing::Test {
protected:
    static Recovered recovered() {
        Recovered result;
        result.segments.push_back({{{10}, {640}}, 64, {5000}, true, false});
        result.mark = {4, {640}, {10}, {640}, {10}, {5000}, 64};
        return result;
    }
    Appended append(int count, std::int64_t now = 6000) {
        const std::vector<NewEvent> events(static_cast<std::size_t>(count), {{}, as_bytes("x")});
        return stream.append(events, {now});
    }
    void flush_all() {
        for (const auto& part : stream.parts(stream.taken().offset, false)) {
            stream.take_flushed(part);
        }
        stream.show(stream.taken());
    }

    io::sim::Disk disk;
    Stream stream{disk, "p3", stream_identity, {256, 128}, recovered()};
};

// LOG-1
TEST_F(StreamTest, numbers_events_from_the_mark_on) {
    const Appended appended = append(3);

    EXPECT_EQ(appended.first.value, 10);
    EXPECT_EQ(appended.last.value, 12);
    EXPECT_EQ(appended.last_offset.value, 640 + 2 * record_bytes);
    EXPECT_EQ(stream.taken().sequence.value, 13);
    EXPECT_EQ(stream.visible().sequence.value, 10);
}

// LOG-5
TEST_F(StreamTest, gives_no_earlier_time_than_before) {
    EXPECT_EQ(append(1, 4000).enqueued.milliseconds, 5000);
    EXPECT_EQ(append(1, 7000).enqueued.milliseconds, 7000);
    EXPECT_EQ(append(1, 6000).enqueued.milliseconds, 7000);
}

TEST_F(StreamTest, keeps_the_times_of_restored_events_within_bounds) {
    const auto restore = [&](std::int64_t enqueued) {
        const NewEvent event{{}, as_bytes("x"), WallTime{enqueued}};
        return stream.append({&event, 1}, {9000}).enqueued.milliseconds;
    };
    EXPECT_EQ(restore(6000), 6000);
    EXPECT_EQ(restore(5500), 6000) << "times do not fall";
    EXPECT_EQ(restore(20'000), 9000) << "nor do they lie in the future";
}

TEST_F(StreamTest, plans_one_part_for_each_segment) {
    append(2);
    stream.start_segment();
    append(1);

    const auto parts = stream.parts(stream.taken().offset, false);

    ASSERT_EQ(parts.size(), 2u);
    EXPECT_FALSE(parts[0].create);
    EXPECT_EQ(parts[0].from.value, 640);
    EXPECT_TRUE(parts[1].create);
    EXPECT_EQ(parts[1].header.name.base_sequence.value, 12);
    EXPECT_EQ(parts[1].header.last_record_bytes, record_bytes);
}

TEST_F(StreamTest, plans_to_write_an_abandoned_empty_file_again) {
    append(1);

    EXPECT_FALSE(stream.parts(stream.taken().offset, false).at(0).create);
    EXPECT_TRUE(stream.parts(stream.taken().offset, true).at(0).create);
}

TEST_F(StreamTest, shows_what_was_flushed) {
    append(2);

    flush_all();

    EXPECT_EQ(stream.visible().offset, stream.taken().offset);
    EXPECT_EQ(stream.last_sequence().value, 11);
    EXPECT_EQ(stream.last_offset().value, 640 + record_bytes);
    EXPECT_TRUE(stream.parts(stream.taken().offset, false).empty());
}

// LOG-6
TEST_F(StreamTest, gives_the_numbers_of_a_refused_batch_again) {
    append(1);
    flush_all();
    append(2, 9000);
    stream.start_segment();
    append(1, 9000);

    stream.cut();

    EXPECT_EQ(stream.segments().size(), 1u);
    const Appended next = append(1, 6500);
    EXPECT_EQ(next.first.value, 11);
    EXPECT_EQ(next.enqueued.milliseconds, 6500);
}

TEST_F(StreamTest, is_full_when_a_batch_would_pass_the_limit) {
    append(3);

    EXPECT_EQ(stream.active_bytes(), 3u * record_bytes);
    EXPECT_FALSE(stream.is_full(record_bytes));
    EXPECT_TRUE(stream.is_full(record_bytes + 1));
}

TEST_F(StreamTest, moves_its_start_only_forward) {
    append(2);
    flush_all();

    stream.set_start({640 + record_bytes}, {11});
    stream.set_start({640}, {10});

    EXPECT_EQ(stream.start().value, 640 + record_bytes);
    EXPECT_EQ(stream.start_sequence().value, 11);
}

TEST_F(StreamTest, marks_where_it_begins_and_ends) {
    append(2);
    const StreamEnd planned = stream.taken();

    const Mark mark = stream.next_mark(planned, 1);

    EXPECT_EQ(mark, (Mark{5, {640}, {10}, {640 + 2 * record_bytes}, {12}, {6000}, 64}));
    EXPECT_EQ(stream.next_mark(stream.visible(), 2).counter, 7u);
}

}  // namespace
}  // namespace evenkeel::commitlog
