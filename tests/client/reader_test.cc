// A remote reader in a simulated world: positions, losses, displacement, bounds.
#include <gtest/gtest.h>

#include "base/time_point.h"
#include "client/sim_world.h"

namespace evenkeel::test {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

Texts numbered(int from, int to) {
    Texts texts;
    for (int i = from; i < to; ++i) texts.push_back("event " + std::to_string(i));
    return texts;
}

TEST(RemoteReader, starts_at_any_position) {
    SimWorld world;
    world.connect();
    ASSERT_TRUE(world.send(0, numbered(0, 3)).ok());
    world.run_for(1s);
    const WallTime between = world.client_loop.clock().wall();
    world.run_for(1s);
    ASSERT_TRUE(world.send(0, numbered(3, 5)).ok());

    const auto first = [&](const Position& position) {
        return world.read(*world.open_reader(0, position).value(), 1).value();
    };

    EXPECT_EQ(first(Position::earliest()), numbered(0, 1));
    EXPECT_EQ(first(Position::after_sequence(1)), numbered(2, 3));
    EXPECT_EQ(first(Position::at_sequence(1)), numbered(1, 2));
    EXPECT_EQ(first(Position::after_offset(0)), numbered(1, 2));
    EXPECT_EQ(first(Position::after_time(time_point(between))), numbered(3, 4));
}

// CLIENT-1
TEST(RemoteReader, goes_on_behind_the_last_event_after_each_loss) {
    SimWorld world;
    world.connect();
    auto* const reader = world.open_reader(0, Position::earliest()).value();
    Texts expected, got;
    for (int round = 0; round < 20; ++round) {
        const Texts more = numbered(round * 10, round * 10 + 10);
        ASSERT_TRUE(world.send(0, more).ok());
        expected.insert(expected.end(), more.begin(), more.end());
        const auto some = world.read_all(*reader, 7);
        got.insert(got.end(), some.begin(), some.end());
        world.reset_connections();
    }

    const auto rest = world.read_all(*reader, expected.size() - got.size());
    got.insert(got.end(), rest.begin(), rest.end());

    // A send that was lost on its way may repeat, but here each was acknowledged before the loss.
    EXPECT_EQ(got, expected);
}

TEST(RemoteReader, misses_nothing_after_latest_when_the_link_is_lost) {
    SimWorld world;
    world.connect();
    ASSERT_TRUE(world.send(0, {"old"}).ok());
    auto* const reader = world.open_reader(0, Position::latest()).value();

    world.reset_connections();
    world.run_for(1ms);
    ASSERT_TRUE(world.send(0, {"new"}).ok());

    EXPECT_EQ(world.read_all(*reader, 1), Texts{"new"});
}

// CLIENT-2
TEST(RemoteReader, is_fenced_by_an_equal_epoch) {
    SimWorld world;
    world.connect();
    ASSERT_TRUE(world.send(0, numbered(0, 10)).ok());
    auto* const first =
        world.open_reader(0, Position::earliest(), {.epoch = 3, .name = "a"}).value();
    EXPECT_EQ(world.read(*first, 1).value(), numbered(0, 1));

    auto* const second =
        world.open_reader(0, Position::earliest(), {.epoch = 3, .name = "b"}).value();
    world.run_for(1s);

    EXPECT_EQ(world.read(*first, 1).error().code, ErrorCode::fenced);
    EXPECT_EQ(world.read(*first, 1).error().code, ErrorCode::fenced);
    EXPECT_EQ(world.read(*second, 1).value(), numbered(0, 1));
    EXPECT_EQ(world.open_reader(0, Position::earliest(), {.epoch = 2}).error().code,
              ErrorCode::fenced);
    EXPECT_EQ(world.open_reader(0, Position::earliest()).error().code, ErrorCode::fenced);
}

TEST(RemoteReader, hands_out_together_what_came_together) {
    SimWorld world;
    world.connect();
    auto* const reader = world.open_reader(0, Position::earliest()).value();
    std::vector<std::size_t> sizes;
    std::function<void()> read = [&] {
        reader->read(64, 60s, [&](Result<EventBatch> batch) {
            if (!batch.ok()) return;
            sizes.push_back(batch->size());
            world.client_loop.post([&] { read(); });
        });
    };
    read();

    int single = 0;
    for (int round = 0; round < 20; ++round) {
        sizes.clear();
        ASSERT_TRUE(world.send(0, numbered(0, 50)).ok());
        world.run_for(1s);
        ASSERT_FALSE(sizes.empty());
        if (sizes.front() == 1) ++single;
    }

    EXPECT_LT(single, 10) << "the network cuts now and then; the reader does not";
    reader->close();
}

TEST(RemoteReader, tells_the_sixth_reader_that_there_are_enough) {
    SimWorld world;
    world.connect();
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(world.open_reader(0, Position::earliest()).ok());

    EXPECT_EQ(world.open_reader(0, Position::earliest()).error().code, ErrorCode::overloaded);
}

TEST(RemoteReader, gives_nothing_after_the_wait_and_wakes_for_the_next_event) {
    SimWorld world;
    world.connect();
    auto* const reader = world.open_reader(0, Position::earliest()).value();
    const Instant before = world.now();

    EXPECT_EQ(world.read(*reader, 10, 5s).value(), Texts{});

    EXPECT_EQ(world.now() - before, Duration(5s));
    ASSERT_TRUE(world.send(0, {"x"}).ok());
    EXPECT_EQ(world.read(*reader, 10, 5s).value(), Texts{"x"});
}

TEST(RemoteReader, keeps_no_more_than_it_may_while_nobody_reads) {
    SimWorld world;
    world.connect();
    const std::string body(10'000, 'x');
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(world.send(0, Texts(10, body)).ok());
    RemoteReaderOptions options;
    options.prefetch_bytes = 50'000;
    auto* const reader = world.open_reader(0, Position::earliest(), options).value();

    world.run_for(10s);

    // What was on its way when the credit was taken back: pipe and the hub's output.
    EXPECT_LE(reader->waiting_bytes(), 50'000u + 64 * 1024 + 128 * 1024 + 65536);
    EXPECT_EQ(world.read_all(*reader, 1000).size(), 1000u);
    EXPECT_EQ(reader->waiting_bytes(), 0u);
}

TEST(RemoteReader, keeps_no_more_events_than_it_may) {
    SimWorld world;
    world.connect();
    ASSERT_TRUE(world.send(0, numbered(0, 500)).ok());
    RemoteReaderOptions options;
    options.prefetch_events = 20;
    auto* const reader = world.open_reader(0, Position::earliest(), options).value();
    world.run_for(1s);

    EXPECT_EQ(world.read(*reader, 500).value(), numbered(0, 20));
    EXPECT_EQ(world.read_all(*reader, 480), numbered(20, 500));
}

TEST(RemoteReader, tells_how_far_the_partition_has_come) {
    SimWorld world;
    world.connect();
    ASSERT_TRUE(world.send(0, numbered(0, 5)).ok());
    RemoteReaderOptions options;
    options.track_last_enqueued = true;
    auto* const reader = world.open_reader(0, Position::earliest(), options).value();
    EXPECT_FALSE(reader->last_enqueued().has_value());

    EXPECT_EQ(world.read_all(*reader, 1), numbered(0, 1));

    ASSERT_TRUE(reader->last_enqueued().has_value());
    EXPECT_EQ(reader->last_enqueued()->sequence_number, 4);
    EXPECT_GT(reader->last_enqueued()->offset, 0);
}

TEST(RemoteReader, tells_when_the_hub_stays_away_and_tries_again_when_asked) {
    SimWorld world;
    world.connect({.retry = {.retries_max = 2, .delay = 100ms}});
    ASSERT_TRUE(world.send(0, {"x", "y"}).ok());
    auto* const reader = world.open_reader(0, Position::earliest()).value();
    EXPECT_EQ(world.read_all(*reader, 2), (Texts{"x", "y"}));
    world.stop_door();

    EXPECT_EQ(world.read(*reader, 1).error().code, ErrorCode::unavailable);

    world.start_door();
    ASSERT_TRUE(world.send(0, {"z"}).ok());
    EXPECT_EQ(world.read_all(*reader, 1), Texts{"z"});
}

TEST(RemoteReader, ends_with_cancelled_when_closed) {
    SimWorld world;
    world.connect();
    ASSERT_TRUE(world.send(0, {"x"}).ok());
    auto* const reader = world.open_reader(0, Position::earliest()).value();

    reader->close();

    EXPECT_EQ(world.read(*reader, 1).error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace evenkeel::test
