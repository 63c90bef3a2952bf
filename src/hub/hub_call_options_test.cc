// How long calls of a hub in this process block: deadlines and stops.
#include <functional>
#include <stop_token>

#include <gtest/gtest.h>

#include "base/promise.h"
#include "support/temporary_directory.h"
#include "support/threads.h"
#include <evenkeel/hub.h>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

CallOptions stopped_before() {
    std::stop_source stop;
    stop.request_stop();
    return {.stop = stop.get_token()};
}

class OneHub {
public:
    OneHub() : hub(Hub::open(options()).value()) {
        hub->create("h", {.partitions = 1}).value();
        reader = hub->open_reader("h", "$Default", 0, Position::earliest()).value();
    }
    HubOptions options() const {
        return {.directory = folder.path() + "/data", .sync_to_disk = false};
    }

    test::TemporaryDirectory folder;
    std::unique_ptr<Hub> hub;
    std::unique_ptr<Reader> reader;
};

TEST(HubCallOptions, a_stop_before_the_call_begins_nothing) {
    OneHub world;
    const CallOptions stopped = stopped_before();
    world.hub->create_group("h", "kept").value();
    world.hub->send("h", "kept").value();

    EXPECT_EQ(world.hub->create("new", {}, stopped).error().code, ErrorCode::cancelled);
    EXPECT_EQ(world.hub->alter("h", {.partitions = 2}, stopped).error().code, ErrorCode::cancelled);
    EXPECT_EQ(world.hub->remove("h", stopped).error().code, ErrorCode::cancelled);
    EXPECT_EQ(world.hub->purge("h", 0, 1, stopped).error().code, ErrorCode::cancelled);
    EXPECT_EQ(world.hub->create_group("h", "new", stopped).error().code, ErrorCode::cancelled);
    EXPECT_EQ(world.hub->remove_group("h", "kept", stopped).error().code, ErrorCode::cancelled);
    EXPECT_EQ(world.hub->send("h", "lost", {}, stopped).error().code, ErrorCode::cancelled);
    EXPECT_EQ(world.reader->read(1, 60s, stopped.stop).error().code, ErrorCode::cancelled);

    ASSERT_EQ(world.hub->list().size(), 1u);
    EXPECT_EQ(world.hub->describe("h")->options.partitions, 1u);
    EXPECT_EQ(world.hub->describe("h")->groups, (std::vector<std::string>{"$Default", "kept"}));
    EXPECT_EQ(world.hub->describe("h", 0)->begin_sequence_number, 0);
    EXPECT_EQ(world.hub->describe("h", 0)->last_enqueued_sequence_number, 0);
    EXPECT_EQ(world.reader->read(1, 60s).value()[0].text(), "kept");
}

TEST(HubCallOptions, a_hub_whose_opening_was_given_up_can_be_opened) {
    OneHub world;
    world.hub->alter("h", {.partitions = 64}).value();
    world.hub->send("h", "kept", {.partition = 0}).value();
    world.hub.reset();

    EXPECT_EQ(Hub::open(world.options(), stopped_before()).error().code, ErrorCode::cancelled);
    for (int i = 0; i < 20; ++i) {
        std::stop_source stop;
        test::Threads stops([&] { stop.request_stop(); });
        const auto opened = Hub::open(world.options(), {.stop = stop.get_token()});
        stops.join();
        if (!opened.ok()) {
            EXPECT_EQ(opened.error().code, ErrorCode::cancelled);
        }
    }
    const auto hasty = Hub::open(world.options(), {.timeout = 0ms});
    if (!hasty.ok()) {
        EXPECT_EQ(hasty.error().code, ErrorCode::timed_out);
    }

    const auto hub = hasty.ok() ? nullptr : Hub::open(world.options()).value();
    const auto& used = hasty.ok() ? *hasty : hub;
    EXPECT_EQ(used->describe("h")->options.partitions, 64u);
    EXPECT_EQ(used->describe("h", 0)->last_enqueued_sequence_number, 0);
}

TEST(HubCallOptions, what_was_acknowledged_beside_a_stop_is_stored) {
    OneHub world;
    std::vector<std::int64_t> acknowledged;
    for (int i = 0; i < 100; ++i) {
        std::stop_source stop;
        test::Threads stops([&] { stop.request_stop(); });
        const auto sent = world.hub->send("h", std::to_string(i), {}, {.stop = stop.get_token()});
        stops.join();
        if (sent.ok()) acknowledged.push_back(sent->first_sequence_number);
        if (!sent.ok()) {
            EXPECT_EQ(sent.error().code, ErrorCode::cancelled);
        }
    }
    const auto last = world.hub->send("h", "last").value();

    EXPECT_LE(last.last_sequence_number, 100);
    for (const auto sequence : acknowledged) EXPECT_LT(sequence, last.last_sequence_number);
}

TEST(HubCallOptions, a_send_without_time_says_so_and_may_be_stored) {
    OneHub world;

    const auto sent = world.hub->send("h", "first", {}, {.timeout = 0ms});

    if (!sent.ok()) {
        EXPECT_EQ(sent.error().code, ErrorCode::timed_out);
    }
    EXPECT_EQ(world.hub->send("h", "second").value().first_sequence_number, 1) << "it was begun";
}

TEST(HubCallOptions, a_reader_that_waits_ends_with_a_stop_and_goes_on) {
    OneHub world;
    std::stop_source stop;
    Promise<bool> begun;
    Promise<Result<EventBatch>> ended;
    test::Threads reads([&] {
        begun.set(true);
        ended.set(world.reader->read(1, 60s, stop.get_token()));
    });
    begun.wait();

    stop.request_stop();

    EXPECT_EQ(ended.wait().error().code, ErrorCode::cancelled);
    reads.join();
    world.hub->send("h", "after").value();
    EXPECT_EQ(world.reader->read(1, 60s).value()[0].text(), "after");
    EXPECT_TRUE(world.reader->read(1, 0ms).value().empty());
}

TEST(HubCallOptions, a_reader_loses_no_event_to_a_stop) {
    constexpr std::int64_t events = 300;
    OneHub world;
    test::Threads sends([&] {
        for (int i = 0; i < events; ++i) EXPECT_TRUE(world.hub->send("h", "event").ok());
    });
    std::int64_t next = 0;
    while (next < events) {
        std::stop_source stop;
        test::Threads stops([&] { stop.request_stop(); });
        const auto batch = world.reader->read(7, 60s, stop.get_token());
        stops.join();
        if (!batch.ok()) {
            ASSERT_EQ(batch.error().code, ErrorCode::cancelled);
            continue;
        }
        for (const auto& event : *batch) EXPECT_EQ(event.sequence_number, next++);
    }
    sends.join();
    EXPECT_EQ(next, events);
}

}  // namespace
}  // namespace evenkeel
