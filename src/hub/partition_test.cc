#include "hub/partition.h"

#include <gtest/gtest.h>

#include "base/time_point.h"
#include "hub/hub_fixture.h"

namespace evenkeel::hub {
namespace {

// One event hub "h" with one partition, which has the events "0", "1", "2".
class PartitionWorld : public HubFixture {
public:
    PartitionWorld() {
        opened(*this);
        EXPECT_TRUE(create("h", {.partitions = 1}).ok());
        for (const char* body : {"0", "1", "2"}) EXPECT_TRUE(append("h", 0, {body}).ok());
    }
    std::unique_ptr<PartitionReader> reader(const Position& position = Position::earliest(),
                                            std::optional<std::int64_t> epoch = {},
                                            std::vector<Error>* ends = nullptr) {
        ReaderRequest request{"r", std::nullopt};
        if (epoch) request.epoch = Epoch{*epoch};
        auto attached = attach("h", 0, position, request, [ends](const Error& why) {
            if (ends) ends->push_back(why);
        });
        EXPECT_TRUE(attached.ok()) << attached.error().detail;
        return std::move(*attached);
    }
    Partition& partition() { return **(*hub->find("h"))->partition({0}); }
};

TEST(PartitionReader, starts_where_it_was_asked_to) {
    PartitionWorld world;
    const auto second = world.append("h", 0, {"3"});
    const std::int64_t last_offset = second->last_offset.value;

    EXPECT_EQ(*world.read("h", 0, Position::earliest()), (Bodies{"0", "1", "2", "3"}));
    EXPECT_EQ(*world.read("h", 0, Position::latest()), Bodies{});
    EXPECT_EQ(*world.read("h", 0, Position::at_sequence(1)), (Bodies{"1", "2", "3"}));
    EXPECT_EQ(*world.read("h", 0, Position::after_sequence(1)), (Bodies{"2", "3"}));
    EXPECT_EQ(*world.read("h", 0, Position::after_sequence(-1)).value().begin(), "0");
    EXPECT_EQ(*world.read("h", 0, Position::at_offset(last_offset)), (Bodies{"3"}));
    EXPECT_EQ(*world.read("h", 0, Position::after_offset(last_offset)), Bodies{});
    EXPECT_EQ(*world.read("h", 0, Position::after_offset(-1)), (Bodies{"0", "1", "2", "3"}));
    EXPECT_EQ(
        *world.read("h", 0, Position::at_time(time_point({second->enqueued.milliseconds + 1}))),
        Bodies{});
}

TEST(PartitionReader, reports_a_file_that_was_removed_under_it_as_damage) {
    PartitionWorld world;
    ASSERT_TRUE(world.reopen().ok());  // nothing is in memory now
    for (const auto& path : world.disk->files()) {
        if (!path.ends_with(".log")) continue;
        EXPECT_TRUE(world.disk->remove(path).ok());
    }
    const auto reader = world.reader(Position::at_sequence(1));

    const auto first = std::get<commitlog::ColdRead>(*reader->read(1000));
    const auto missing = first.perform();
    ASSERT_FALSE(missing.ok());
    ASSERT_EQ(missing.error().code, ErrorCode::not_found);
    reader->missed(first.from);
    const auto lost = std::get<commitlog::ColdRead>(*reader->read(1000)).perform();

    ASSERT_TRUE(lost.ok() && lost->damage);
    EXPECT_EQ(lost->damage->to, SequenceNumber{3});
    reader->advance(*lost);
    EXPECT_TRUE(std::holds_alternative<std::monostate>(*reader->read(1000)));
    ASSERT_TRUE(world.append("h", 0, {"3"}).ok());
    EXPECT_EQ(*read_on(*reader), Bodies{"3"});
}

TEST(PartitionReader, is_refused_beyond_the_last_event) {
    PartitionWorld world;

    const auto by_sequence = world.attach("h", 0, Position::at_sequence(3));
    const auto by_offset = world.attach("h", 0, Position::after_offset(1'000'000));

    ASSERT_FALSE(by_sequence.ok() || by_offset.ok());
    EXPECT_EQ(by_sequence.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(by_sequence.error().detail,
              "The supplied sequence number '3' is invalid. The last sequence number in the system "
              "is '2'");
    EXPECT_NE(by_offset.error().detail.find("The supplied offset '1000000' is invalid."),
              std::string::npos);
    EXPECT_EQ(world.partition().reader_count(), 0u);
}

TEST(PartitionReader, goes_back_to_an_event_that_it_has_read) {
    PartitionWorld world;
    const auto reader = world.reader();
    ASSERT_EQ(*read_on(*reader), (Bodies{"0", "1", "2"}));

    EXPECT_TRUE(reader->rewind({1}));

    EXPECT_EQ(*read_on(*reader), (Bodies{"1", "2"}));
}

TEST(PartitionTraffic, counts_what_was_stored_and_what_was_sent) {
    PartitionWorld world;
    const Instant now = world.node->loop.clock().now();
    const auto reader = world.reader();
    ASSERT_EQ(*read_on(*reader), (Bodies{"0", "1", "2"}));
    EXPECT_EQ(world.partition().traffic(now).out, 0) << "it is still here";

    reader->count_sent(2);

    EXPECT_EQ(world.partition().traffic(now).out, 2);
    EXPECT_EQ(world.partition().traffic(now).in, 3);
}

TEST(PartitionReader, does_not_go_back_once_it_was_displaced) {
    PartitionWorld world;
    const auto reader = world.reader();
    const auto other = world.reader(Position::earliest(), 1);

    EXPECT_FALSE(reader->rewind({0}));
}

TEST(PartitionReader, is_woken_once_when_something_comes) {
    PartitionWorld world;
    const auto reader = world.reader(Position::latest());
    int woken = 0;
    reader->wait([&] { ++woken; });
    world.run();
    EXPECT_EQ(woken, 0);

    ASSERT_TRUE(world.append("h", 0, {"3"}).ok());
    ASSERT_TRUE(world.append("h", 0, {"4"}).ok());

    EXPECT_EQ(woken, 1);
    EXPECT_EQ(*read_on(*reader), (Bodies{"3", "4"}));
}

TEST(PartitionReader, does_not_wait_for_what_is_there) {
    PartitionWorld world;
    const auto reader = world.reader();
    int woken = 0;

    reader->wait([&] { ++woken; });

    EXPECT_EQ(woken, 1);
}

TEST(PartitionReader, is_not_woken_after_it_stopped_waiting) {
    PartitionWorld world;
    const auto reader = world.reader(Position::latest());
    int woken = 0;
    reader->wait([&] { ++woken; });

    reader->cancel_wait();
    ASSERT_TRUE(world.append("h", 0, {"3"}).ok());

    EXPECT_EQ(woken, 0);
    reader->wait([&] { ++woken; });
    EXPECT_EQ(woken, 1);
}

TEST(PartitionReader, may_destroy_another_waiting_reader_when_it_is_woken) {
    PartitionWorld world;
    const auto first = world.reader(Position::latest());
    auto second = world.reader(Position::latest());
    int woken = 0;
    first->wait([&] { second.reset(); });
    second->wait([&] { ++woken; });

    ASSERT_TRUE(world.append("h", 0, {"3"}).ok());

    EXPECT_EQ(woken, 0);
    EXPECT_EQ(world.partition().reader_count(), 1u);
}

TEST(PartitionReader, may_be_destroyed_by_what_wakes_it) {
    PartitionWorld world;
    auto reader = world.reader(Position::latest());
    reader->wait([&] { reader.reset(); });

    ASSERT_TRUE(world.append("h", 0, {"3"}).ok());

    EXPECT_EQ(world.partition().reader_count(), 0u);
}

TEST(PartitionReader, that_is_displaced_is_told_once_and_gets_nothing_more) {
    PartitionWorld world;
    std::vector<Error> ends;
    const auto old = world.reader(Position::earliest(), 1, &ends);
    int woken = 0;
    ASSERT_EQ(read_on(*old)->size(), 3u);
    old->wait([&] { ++woken; });

    const auto newer = world.reader(Position::earliest(), 1);
    ASSERT_TRUE(world.append("h", 0, {"3"}).ok());
    const auto newest = world.reader(Position::earliest(), 2);

    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].code, ErrorCode::fenced);
    EXPECT_EQ(old->read(256).error().detail, ends[0].detail);
    EXPECT_EQ(woken, 0);
    EXPECT_FALSE(newer->read(256).ok());
    EXPECT_EQ(*read_on(*newest), (Bodies{"0", "1", "2", "3"}));
    EXPECT_EQ(world.partition().reader_count(), 1u);
}

TEST(PartitionReader, may_come_back_from_within_the_news_of_its_displacement) {
    PartitionWorld world;
    std::vector<Error> ends;
    std::unique_ptr<PartitionReader> back;
    ReaderRequest request{"first", Epoch{1}};
    const auto first = world.attach("h", 0, Position::earliest(), request, [&](const Error&) {
        back = world.reader(Position::earliest(), 3);
    });

    const auto second = world.reader(Position::earliest(), 2, &ends);

    // The last one to attach has the partition, alone.
    EXPECT_EQ(ends.size(), 1u);
    EXPECT_FALSE(second->read(256).ok());
    EXPECT_TRUE(back->read(256).ok());
    EXPECT_EQ(world.partition().reader_count(), 1u);
}

TEST(PartitionReader, leaves_room_for_others_when_it_is_destroyed) {
    PartitionWorld world;
    {
        const auto owner = world.reader(Position::earliest(), 9);
        EXPECT_FALSE(world.attach("h", 0).ok());
    }

    const auto lower = world.reader(Position::earliest(), 1);
    EXPECT_TRUE(lower->read(256).ok());
}

TEST(PartitionReader, of_one_group_does_not_disturb_those_of_another) {
    PartitionWorld world;
    ASSERT_TRUE(world.create_group("h", "audit").ok());
    const auto owner = world.reader(Position::earliest(), 9);

    const auto other = world.attach("h", 0, Position::earliest(), {"", Epoch{1}}, {}, "AUDIT");

    EXPECT_TRUE(other.ok());
    EXPECT_EQ(read_on(*owner)->size(), 3u);
    EXPECT_EQ(read_on(**other)->size(), 3u);
}

TEST(PartitionReader, with_a_negative_epoch_is_refused_and_leaves_nothing) {
    PartitionWorld world;

    const auto refused = world.attach("h", 0, Position::earliest(), {"", Epoch{-1}});

    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(world.partition().reader_count(), 0u);
    EXPECT_TRUE(world.attach("h", 0).ok());
}

TEST(PartitionReader, ends_with_its_event_hub_and_may_outlive_it) {
    PartitionWorld world;
    std::vector<Error> ends;
    const auto reader = world.reader(Position::latest(), {}, &ends);
    int woken = 0;
    reader->wait([&] { ++woken; });

    ASSERT_TRUE(world.remove("h").ok());
    world.run();

    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].code, ErrorCode::not_found);
    EXPECT_EQ(ends[0].detail, "event hub 'h' was removed");
    EXPECT_EQ(reader->read(256).error().code, ErrorCode::not_found);
    reader->wait([&] { ++woken; });
    reader->cancel_wait();
    reader->advance({});
    EXPECT_EQ(woken, 0);
}

TEST(PartitionReader, ends_with_its_group_and_only_with_that) {
    PartitionWorld world;
    ASSERT_TRUE(world.create_group("h", "audit").ok());
    std::vector<Error> ends;
    const auto stays = world.reader(Position::earliest(), {}, &ends);
    std::vector<Error> audit_ends;
    const auto goes = world.attach(
        "h", 0, Position::earliest(), {}, [&](const Error& why) { audit_ends.push_back(why); },
        "audit");

    ASSERT_TRUE(world.remove_group("h", "Audit").ok());

    EXPECT_TRUE(ends.empty());
    ASSERT_EQ(audit_ends.size(), 1u);
    EXPECT_EQ(audit_ends[0].code, ErrorCode::not_found);
    EXPECT_EQ((*goes)->read(256).error().code, ErrorCode::not_found);
    EXPECT_TRUE(stays->read(256).ok());
}

TEST(PartitionReader, ends_when_the_hub_is_closed_and_may_outlive_it) {
    PartitionWorld world;
    std::vector<Error> ends;
    const auto reader = world.reader(Position::latest(), {}, &ends);
    reader->wait([] {});

    world.close();

    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].code, ErrorCode::cancelled);
    EXPECT_EQ(reader->read(256).error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace evenkeel::hub
