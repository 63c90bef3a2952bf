#include "commitlog/recovery.h"

#include <gtest/gtest.h>

#include "base/time_point.h"
#include "commitlog/log_fixture.h"

namespace evenkeel::commitlog {
namespace {

using io::sim::CrashPolicy;

constexpr SegmentName first_segment{{0}, {0}};
// Four events of 64 bytes.

std::string path_of(const SegmentName& name) {
    return test_directory + "/" + log_name(name);
}

// Where in its file the n-th event of 64 bytes of a segment lies.
std::uint64_t position(std::uint64_t event) {
    return segment_header_bytes + event * 64;
}

void truncate(LogFixture& world, const std::string& path, std::uint64_t size) {
    auto file = world.disk->open(path, io::OpenMode::write);
    ASSERT_TRUE((*file)->truncate(size).ok());
    ASSERT_TRUE((*file)->sync().ok());
}

void remove(LogFixture& world, const std::string& path) {
    ASSERT_TRUE(world.disk->remove(path).ok());
    ASSERT_TRUE(world.disk->sync_directory(test_directory).ok());
}

// Takes away what tells how far the log was durable, as a crash does that comes before it was
// written back.
void forget_mark(LogFixture& world) {
    remove(world, test_directory + "/mark");
}

TEST(Recovery, cuts_a_torn_last_batch_at_every_byte_and_goes_on) {
    // The batch of events 3 to 5 was being written when the machine stopped.
    for (std::uint64_t size = position(3) + 1; size < position(6); ++size) {
        LogFixture world;
        world.append_numbers(0, 3);
        ASSERT_TRUE(world.append(numbers(3, 6)).ok());
        world.close();
        forget_mark(world);
        truncate(world, path_of(first_segment), size);

        world.open();
        ASSERT_EQ(world.read_all().bodies(), numbers(0, 3)) << size;
        ASSERT_TRUE(world.log->damages().empty());
        ASSERT_EQ(world.append({"3"})->first.value, 3);
        world.reopen();
        ASSERT_EQ(world.read_all().bodies(), numbers(0, 4)) << size;
    }
}

TEST(Recovery, indexes_no_record_of_a_batch_that_it_cut) {
    LogFixture world({.index_distance = 64, .tail_bytes_max = 0});
    world.append_numbers(0, 3);
    ASSERT_TRUE(world.append(std::vector<std::string>(6, std::string(100, 'x'))).ok());
    world.close();
    forget_mark(world);
    remove(world, test_directory + "/" + index_name({}));
    truncate(world, path_of(first_segment), world.disk->file_size(path_of(first_segment)) - 10);

    world.open();
    world.append_numbers(3, 200);  // so many that the first ones are read from the file

    for (int i = 0; i < 20; ++i) {
        const Read read = world.read(Position::at_sequence(i));
        EXPECT_TRUE(read.damages.empty()) << i;
        EXPECT_EQ(read.bodies(), numbers(i, 200));
    }
}

TEST(Recovery, keeps_a_whole_batch_that_was_never_acknowledged) {
    LogFixture world;
    world.append_numbers(0, 3);
    world.close();
    forget_mark(world);

    world.open();

    EXPECT_EQ(world.read_all().bodies(), numbers(0, 3));
}

TEST(Recovery, cuts_zeros_behind_the_end) {
    LogFixture world;
    world.append_numbers(0, 3);
    world.close();
    truncate(world, path_of(first_segment), position(3) + 5000);

    world.open();

    EXPECT_EQ(world.read_all().bodies(), numbers(0, 3));
    EXPECT_EQ(world.disk->file_size(path_of(first_segment)), position(3));
}

TEST(Recovery, gives_the_same_log_when_it_runs_again) {
    LogFixture world(short_segments);
    world.append_numbers(0, 10);
    world.close();
    truncate(world, path_of({{8}, {512}}), position(2) - 3);

    const auto first = recover(*world.disk, test_directory, test_identity, 65536);
    const auto second = recover(*world.disk, test_directory, test_identity, 65536);

    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->mark.end, second->mark.end);
    EXPECT_EQ(first->mark.end_sequence, second->mark.end_sequence);
}

TEST(Recovery, works_without_mark_and_indexes) {
    LogFixture world({.segment_bytes_max = 1024, .index_distance = 64});
    world.append_numbers(0, 40);
    const auto before = world.log->properties();
    world.close();
    for (const auto& file : world.disk->files()) {
        if (!file.ends_with(".log")) remove(world, file);
    }

    world.open();

    EXPECT_EQ(world.read_all().bodies(), numbers(0, 40));
    EXPECT_EQ(world.log->properties().last_enqueued, before.last_enqueued);
    EXPECT_EQ(world.log->properties().last_offset, before.last_offset);
    EXPECT_EQ(world.append({"40"})->first.value, 40);
}

TEST(Recovery, rewrites_and_syncs_what_it_keeps_beyond_the_proof) {
    LogFixture world({.durability = Durability::os});
    world.append_numbers(0, 5);
    world.log.reset();
    world.run();
    world.disk = world.disk->kill();
    forget_mark(world);

    world.open();

    Random random(test::test_seed());
    world.log.reset();
    world.disk = world.disk->crash(random, CrashPolicy::drop_all);
    world.open();
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 5));
}

TEST(Recovery, makes_the_name_of_the_active_segment_durable) {
    // A process is killed after it made the second segment's file and before it synced the folder.
    LogFixture world(short_segments);
    world.append_numbers(0, 4);
    world.log.reset();
    const SegmentHeader header{{{4}, {256}},
                               test_identity.incarnation,
                               test_identity.partition,
                               64,
                               world.loop.clock().wall()};
    {
        auto file = world.disk->open(path_of(header.name), io::OpenMode::create);
        ASSERT_TRUE((*file)->write(0, encode(header, test_identity.seed())).ok());
    }
    world.kill_and_reopen();
    world.append_numbers(4, 6);

    Random random(test::test_seed());
    world.log.reset();
    world.disk = world.disk->crash(random, CrashPolicy::drop_all);
    world.open();

    EXPECT_EQ(world.read_all().bodies(), numbers(0, 6));
}

// The newest mark lies in the page cache only, in two pieces; the disk has the one in the other
// slot.
TEST(Recovery, keeps_the_old_mark_until_the_newest_is_durable) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        LogFixture world;
        world.append_numbers(0, 5);
        ASSERT_TRUE(world.purge(3).ok());
        world.close();
        auto mark = *read_mark(*world.disk, test_directory, test_identity.seed());
        ASSERT_TRUE(mark);
        ++mark->counter;
        ++mark->last_time.milliseconds;
        const auto bytes = encode(*mark, test_identity.seed());
        const std::uint64_t slot = (mark->counter % 2) * mark_slot_distance;
        {
            auto file = world.disk->open(test_directory + "/mark", io::OpenMode::write);
            ASSERT_TRUE((*file)->write(slot, ByteView(bytes).first(20)).ok());
            ASSERT_TRUE((*file)->write(slot + 20, ByteView(bytes).subspan(20)).ok());
        }
        world.disk->fail(
            {io::sim::OperationKind::write, "mark", 0, 100, io::sim::Fault::short_write});
        ASSERT_FALSE(world.try_open().ok());

        Random random(seed);
        world.disk = world.disk->crash(random, CrashPolicy::random_subset);
        world.open();
        EXPECT_EQ(world.read_all().bodies(), numbers(3, 5)) << "seed " << seed;
    }
}

TEST(Recovery, goes_on_in_the_segment_before_one_that_was_not_born) {
    for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{10}, position(0)}) {
        LogFixture world(short_segments);
        world.append_numbers(0, 4);
        world.close();
        ASSERT_TRUE(world.disk->open(path_of({{4}, {256}}), io::OpenMode::create).ok());
        truncate(world, path_of({{4}, {256}}), size);

        world.open();

        EXPECT_EQ(world.read_all().bodies(), numbers(0, 4));
        world.append_numbers(4, 6);
        world.reopen();
        EXPECT_EQ(world.read_all().bodies(), numbers(0, 6));
    }
}

// The header of the new segment and a part of its first batch were on their way to the disk, and
// only the part arrived.
TEST(Recovery, keeps_the_last_time_when_a_header_is_missing) {
    for (const std::uint64_t whole_events : {0U, 1U, 2U}) {
        LogFixture world(short_segments);
        world.append_numbers(0, 4);
        const auto before = world.log->properties();
        ASSERT_TRUE(world.append(numbers(4, 7)).ok());
        world.close();
        const auto path = path_of({{4}, {256}});
        truncate(world, path, position(whole_events) + 9);
        auto file = world.disk->open(path, io::OpenMode::write);
        ASSERT_TRUE((*file)->write(0, std::vector<std::byte>(segment_header_bytes)).ok());
        forget_mark(world);

        world.open();

        EXPECT_EQ(world.read_all().bodies(), numbers(0, 4));
        EXPECT_EQ(world.log->properties().last_enqueued, before.last_enqueued);
        EXPECT_EQ(world.log->properties().last_offset, before.last_offset);
        EXPECT_TRUE(world.log->damages().empty());
        world.loop.set_wall_skew(-std::chrono::hours(1));
        world.append_numbers(4, 6);
        world.reopen();
        EXPECT_EQ(world.read_all().bodies(), numbers(0, 6));
        EXPECT_GE(world.log->properties().last_enqueued, before.last_enqueued);
    }
}

TEST(Damage, in_the_active_segment_is_reported_and_the_rest_stays) {
    for (int event = 0; event < 10; ++event) {
        LogFixture world;
        world.append_numbers(0, 10);
        world.close();
        world.disk->flip_bit(path_of(first_segment),
                             position(static_cast<std::uint64_t>(event)) + 57, 4);
        if (event % 2 == 0 && event < 9) forget_mark(world);  // the records behind it prove it

        world.open();
        const auto read = world.read_all();

        auto expected = numbers(0, 10);
        expected.erase(expected.begin() + event);
        EXPECT_EQ(read.bodies(), expected) << event;
        ASSERT_EQ(read.damages.size(), 1u) << event;
        EXPECT_EQ(read.damages[0].from.value, event);
        EXPECT_EQ(read.damages[0].to.value, event + 1);
        EXPECT_EQ(read.damages[0].file, path_of(first_segment));
        ASSERT_EQ(world.log->damages().size(), 1u);
        EXPECT_EQ(world.append({"10"})->first.value, 10);
    }
}

TEST(Damage, in_a_sealed_segment_is_reported_when_it_is_read) {
    LogFixture world(short_segments);
    world.append_numbers(0, 10);
    world.close();
    world.disk->flip_bit(path_of(first_segment), position(1) + 57, 4);
    world.disk->flip_bit(path_of(first_segment), position(2) + 2, 4);
    world.open();

    const auto read = world.read_all();

    EXPECT_EQ(read.sequences(), (std::vector<std::int64_t>{0, 3, 4, 5, 6, 7, 8, 9}));
    ASSERT_EQ(read.damages.size(), 1u);
    EXPECT_EQ(read.damages[0].from.value, 1);
    EXPECT_EQ(read.damages[0].to.value, 3);
    EXPECT_EQ(world.log->damages(), read.damages);
    EXPECT_EQ(world.metrics.damages.value(), 1u);
}

TEST(Damage, of_a_header_costs_no_event) {
    for (const SegmentName name :
         {first_segment, SegmentName{{4}, {256}}, SegmentName{{8}, {512}}}) {
        LogFixture world(short_segments);
        world.append_numbers(0, 10);
        world.close();
        world.disk->flip_bit(path_of(name), 20, 4);

        world.open();

        EXPECT_EQ(world.read_all().bodies(), numbers(0, 10));
        EXPECT_EQ(world.append({"10"})->first.value, 10);
        world.reopen();
        EXPECT_EQ(world.read_all().bodies(), numbers(0, 11));
    }
}

TEST(Damage, of_a_whole_file_is_reported_and_no_number_is_used_again) {
    for (const SegmentName name :
         {first_segment, SegmentName{{4}, {256}}, SegmentName{{8}, {512}}}) {
        LogFixture world(short_segments);
        world.append_numbers(0, 10);
        world.close();
        remove(world, path_of(name));

        world.open();
        const auto read = world.read_all();

        const auto lost = name.base_sequence.value;
        EXPECT_EQ(world.log->properties().last_sequence.value, 9) << lost;
        EXPECT_EQ(read.events.size(), lost == 8 ? 8u : 6u) << lost;
        ASSERT_EQ(read.damages.size(), 1u) << lost;
        EXPECT_EQ(read.damages[0].from.value, lost);
        EXPECT_EQ(read.damages[0].to.value, std::min<std::int64_t>(lost + 4, 10));
        EXPECT_EQ(world.append({"10"})->first.value, 10);
        world.reopen();
        EXPECT_EQ(world.read(Position::at_sequence(10)).bodies(), numbers(10, 11)) << lost;
    }
}

TEST(Damage, of_all_files_leaves_the_numbers) {
    LogFixture world(short_segments);
    world.append_numbers(0, 10);
    world.close();
    for (const auto& file : world.disk->files()) {
        if (file.ends_with(".log")) remove(world, file);
    }

    world.open();

    EXPECT_EQ(world.log->properties().last_sequence.value, 9);
    EXPECT_EQ(world.append({"10"})->first.value, 10);
}

TEST(Damage, starts_a_new_segment_behind_events_lost_by_a_cut) {
    LogFixture world;
    world.append_numbers(0, 10);
    world.close();
    truncate(world, path_of(first_segment), position(7) + 5);

    world.open();
    ASSERT_EQ(world.append({"10"})->first.value, 10);
    const auto read = world.read_all();

    EXPECT_EQ(read.sequences(), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 10}));
    ASSERT_EQ(read.damages.size(), 1u);
    EXPECT_EQ(read.damages[0].from.value, 7);
    EXPECT_EQ(read.damages[0].to.value, 10);
    world.reopen();
    EXPECT_EQ(world.read_all().sequences(), read.sequences());
}

TEST(Damage, lets_a_search_by_a_later_time_wait_at_the_end) {
    LogFixture world;
    world.append_numbers(0, 10);
    world.close();
    truncate(world, path_of(first_segment), position(7) + 5);
    world.open();

    const auto enqueued = world.log->properties().last_enqueued.milliseconds;
    auto cursor = world.log->seek(Position::at_time(time_point({enqueued + 1000})));
    ASSERT_TRUE(cursor.ok());
    Read read;
    world.read_on(*cursor, read);
    EXPECT_TRUE(read.events.empty());

    world.append_numbers(10, 11);
    world.scheduler.run_for(std::chrono::seconds(2));
    world.append_numbers(11, 12);
    world.read_on(*cursor, read);

    EXPECT_EQ(read.bodies(), numbers(11, 12));
}

TEST(Damage, found_by_a_search_does_not_stop_it) {
    LogFixture world({.segment_bytes_max = 4096, .index_distance = 256});
    world.append_numbers(0, 100);
    world.close();
    for (const std::uint64_t event : {4u, 5u, 8u, 20u}) {
        world.disk->flip_bit(path_of(first_segment), position(event) + 30, 1);
    }
    world.open();

    for (int i = 0; i < 100; ++i) {
        const auto read = world.read(Position::at_sequence(i));
        ASSERT_FALSE(read.events.empty());
        const bool damaged = i == 4 || i == 5 || i == 8 || i == 20;
        const int expected = i == 4 ? 6 : damaged ? i + 1 : i;
        EXPECT_EQ(read.events.front().sequence, expected) << i;
        EXPECT_EQ(read.damages.empty() ? -1 : read.damages.front().from.value, i <= 5    ? 4
                                                                               : i <= 8  ? 8
                                                                               : i <= 20 ? 20
                                                                                         : -1)
            << i;
    }
}

TEST(OddFiles, are_named_and_left_alone) {
    LogFixture world;
    world.append_numbers(0, 3);
    world.close();
    for (const char* name : {"notes.txt", "00000000000000000005-00000000000000000999.log"}) {
        ASSERT_TRUE((*world.disk->open(test_directory + "/" + name, io::OpenMode::create))
                        ->write(0, as_bytes("mine"))
                        .ok());
    }

    world.open();

    EXPECT_EQ(world.log->odd_files().size(), 2u);
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 3));
    EXPECT_EQ(world.disk->file_size(test_directory + "/notes.txt"), 4u);
}

TEST(OddFiles, of_another_incarnation_are_refused_as_a_whole) {
    LogFixture world;
    world.append_numbers(0, 3);
    world.close();
    const LogIdentity other{Incarnation{std::byte{1}}, test_identity.partition};

    const auto recovered = recover(*world.disk, test_directory, other, 65536);

    ASSERT_FALSE(recovered.ok());
    EXPECT_EQ(recovered.error().code, ErrorCode::corrupt);
    world.open();
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 3));
}

TEST(Create, refuses_a_folder_that_is_there) {
    LogFixture world;

    EXPECT_EQ(create_log(*world.disk, test_directory, test_identity).error().code,
              ErrorCode::already_exists);
}

TEST(Recovery, tells_of_a_disk_that_cannot_be_read) {
    LogFixture world;
    world.append_numbers(0, 3);
    world.close();
    world.disk->fail({.kind = io::sim::OperationKind::read, .path_contains = ".log"});

    EXPECT_EQ(world.try_open().error().code, ErrorCode::unavailable);
    world.open();
    EXPECT_EQ(world.read_all().bodies(), numbers(0, 3));
}

}  // namespace
}  // namespace evenkeel::commitlog
