// Senders and buffers in a simulated world: order, repeats, refusals, bounds.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "client/sim_world.h"
#include "producer/numbering.h"

namespace evenkeel::test {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

// Without what was stored again after a loss: the first of each.
Texts without_repeats(const Texts& texts) {
    Texts result;
    std::set<std::string> seen;
    for (const auto& text : texts) {
        if (seen.insert(text).second) result.push_back(text);
    }
    return result;
}

std::int64_t last_number(SimWorld& world, std::uint32_t partition) {
    return world.hub().properties("homes", partition).last_sequence.value;
}

// A producer that numbers its events, and tries again for as long as it takes.
void open_numbered(SimWorld& world) {
    world.connect({.retry = {.retries_max = 1000, .delay = 10ms, .delay_max = 100ms}});
    world.core = std::make_unique<producer::Core>(*world.connection, 16,
                                                  producer::SenderOptions{.numbered = true});
    ASSERT_TRUE(world.open_producer().ok());
}

// To partition 0; counts the answer, which must be good.
void send(SimWorld& world, const SendBatch& batch, int& answered) {
    world.core->send(
        0, std::make_shared<const std::vector<std::byte>>(producer::BatchAccess::message(batch)),
        [&answered](const Result<>& result) {
            EXPECT_TRUE(result.ok()) << result.error().detail;
            ++answered;
        });
}

// Everything that a partition holds, read past the client.
Texts stored(SimWorld& world, std::uint32_t partition) {
    const auto last = last_number(world, partition);
    world.core.reset();
    world.buffer.reset();
    auto* const reader = world.open_reader(partition, Position::earliest()).value();
    return world.read_all(*reader, static_cast<std::size_t>(last + 1));
}

struct Buffered {
    Buffered(SimWorld& world, producer::BufferOptions options) {
        world.buffer = std::make_unique<producer::Buffer>(
            world.client_loop, *world.core, options,
            [this](const Result<>& result, const SendBatch& batch) {
                if (result.ok()) {
                    settled += batch.size();
                } else {
                    failed += batch.size();
                    why = result.error();
                }
                ++batches;
            });
        buffer = world.buffer.get();
    }
    void add(std::optional<std::uint32_t> partition, const std::string& key,
             std::string_view body) {
        amqp::Buffer section;
        eventhubs::append_event({.body = body}, section);
        buffer->add(partition, key, section);
    }

    producer::Buffer* buffer;
    std::size_t settled = 0, failed = 0, batches = 0;
    std::optional<Error> why;
};

TEST(ProducerSim, knows_what_the_hub_takes_at_most) {
    door::DoorOptions options;
    options.message_bytes_max = 5000;
    SimWorld world(1, options);
    world.connect();

    ASSERT_TRUE(world.open_producer().ok());

    EXPECT_EQ(world.core->message_bytes_max(), 5000u);
    EXPECT_EQ(world.send(0, {std::string(6000, 'x')}).error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(world.send(0, {"small"}).ok()) << "the link is as good as before";
}

TEST(ProducerSim, sends_what_takes_several_frames) {
    SimWorld world;
    world.connect();
    const std::string large(900'000, 'x');

    ASSERT_TRUE(world.send(0, {large}).ok());

    EXPECT_EQ(stored(world, 0), Texts{large});
}

TEST(ProducerSim, sends_again_what_was_not_acknowledged_before_a_loss) {
    SimWorld world;
    world.connect();
    ASSERT_TRUE(world.open_producer().ok());
    Texts expected;
    int sent = 0;
    for (int i = 0; i < 200; ++i) {
        expected.push_back("event " + std::to_string(i));
        SendBatch batch({.partition = 0}, 1 << 20);
        ASSERT_TRUE(batch.try_add(expected.back()));
        world.core->send(
            0,
            std::make_shared<const std::vector<std::byte>>(producer::BatchAccess::message(batch)),
            [&](const Result<>& result) {
                EXPECT_TRUE(result.ok()) << result.error().detail;
                ++sent;
            });
        if (i % 10 == 0) world.run_for(std::chrono::microseconds(i * 20));
        if (i % 40 == 39) world.reset_connections();
    }

    ASSERT_TRUE(world.run_until([&] { return sent == 200; }));

    EXPECT_EQ(without_repeats(stored(world, 0)), expected);
}

// SEND-2.
// Sends numbered events one by one under losses; what was stored in the end.
TEST(ProducerSim, numbered_stores_each_event_once_whatever_is_lost) {
    SimWorld world;
    open_numbered(world);
    Texts expected;
    int sent = 0;
    for (int i = 0; i < 300; ++i) {
        expected.push_back("event " + std::to_string(i));
        SendBatch batch({.partition = 0}, 1 << 20);
        ASSERT_TRUE(batch.try_add(expected.back()));
        world.core->send(
            0,
            std::make_shared<const std::vector<std::byte>>(producer::BatchAccess::message(batch)),
            [&](const Result<>& result) {
                EXPECT_TRUE(result.ok()) << result.error().detail;
                ++sent;
            });
        world.run_for(std::chrono::microseconds(i * 10));
        if (i % 5 == 4) world.reset_connections();
    }

    ASSERT_TRUE(world.run_until([&] { return sent == 300; }));

    EXPECT_EQ(stored(world, 0), expected) << "nothing twice, nothing missing";
}

// SEND-2
TEST(ProducerSim, numbered_stores_each_event_once_though_the_hub_is_killed) {
    SimWorld world;
    open_numbered(world);
    const auto last_stored = [&] { return last_number(world, 0); };
    Texts expected;
    int answered = 0;
    for (int i = 0; i < 20; ++i) {
        SendBatch batch({.partition = 0}, 1 << 20);
        for (int k = 0; k < 3; ++k) {
            expected.push_back("event " + std::to_string(i) + " " + std::to_string(k));
            ASSERT_TRUE(batch.try_add(expected.back()));
        }
        send(world, batch, answered);
        ASSERT_TRUE(world.run_until([&] { return last_stored() == 3 * i + 2; }));
        EXPECT_EQ(answered, i) << "it is on disk, and the producer does not know";
        world.kill_hub();
        ASSERT_TRUE(world.run_until([&] { return answered == i + 1; }));
    }

    EXPECT_EQ(stored(world, 0), expected) << "nothing twice, nothing missing";
}

// SEND-2.
// Killed at any moment: before a store, between store and answer, or after both. Answers that are
// on their way then are lost.
TEST(ProducerSim, numbered_stores_each_event_once_whenever_the_hub_is_killed) {
    SimWorld world;
    open_numbered(world);
    const auto last_stored = [&] { return last_number(world, 0); };
    Random random = world.scheduler().fork_random();
    Texts expected;
    int answered = 0;
    for (int i = 0; i < 200; ++i) {
        expected.push_back("event " + std::to_string(i));
        SendBatch batch({.partition = 0}, 1 << 20);
        ASSERT_TRUE(batch.try_add(expected.back()));
        send(world, batch, answered);
        if (i % 5 != 4) continue;
        const auto before = last_stored();
        world.run_until([&] { return last_stored() != before; }, 200ms);
        world.run_for(std::chrono::microseconds(random.below(2000)));
        world.reset_connections();
        world.kill_hub();
    }

    ASSERT_TRUE(world.run_until([&] { return answered == 200; }));

    EXPECT_EQ(stored(world, 0), expected) << "nothing twice, nothing missing";
}

TEST(ProducerSim, numbered_goes_on_after_the_hub_has_forgotten_it) {
    SimWorld world;
    open_numbered(world);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(world.send(0, {"a", "b"}).ok());

    world.stop_door();
    world.start_door();

    for (int i = 0; i < 3; ++i) {
        const auto sent = world.send(0, {"c", "d"});
        EXPECT_TRUE(sent.ok()) << to_string(sent.error());
    }
    EXPECT_EQ(world.hub().properties("homes", 0).last_sequence.value, 11);
}

TEST(ProducerSim, numbered_sends_by_key_or_to_each_partition_in_turn) {
    SimWorld world;
    world.connect();
    world.core = std::make_unique<producer::Core>(*world.connection, 16,
                                                  producer::SenderOptions{.numbered = true});
    ASSERT_TRUE(world.open_producer().ok());
    const auto send = [&](const std::string& key) {
        SendBatch batch({.partition_key = key}, 1 << 20);
        EXPECT_TRUE(batch.try_add("x"));
        const auto message =
            std::make_shared<const std::vector<std::byte>>(producer::BatchAccess::message(batch));
        EXPECT_TRUE(world
                        .wait([&](auto done) {
                            world.core->send(std::nullopt, message, std::move(done), key);
                        })
                        .ok());
    };

    for (int i = 0; i < 4; ++i) send("");
    EXPECT_EQ(world.hub().properties("homes", 0).last_sequence.value, 1);
    EXPECT_EQ(world.hub().properties("homes", 1).last_sequence.value, 1);
    for (int i = 0; i < 3; ++i) send("key1");  // of 2 partitions, it is in 1
    EXPECT_EQ(world.hub().properties("homes", 1).last_sequence.value, 4);
}

TEST(ProducerSim, does_not_wait_for_a_hub_that_says_good_bye) {
    SimWorld world;
    world.connect({.retry = {.retries_max = 0, .try_timeout = 60s}});
    ASSERT_TRUE(world.open_producer().ok());
    SendBatch batch({.partition = 0}, 1 << 20);
    ASSERT_TRUE(batch.try_add("x"));
    const auto message =
        std::make_shared<const std::vector<std::byte>>(producer::BatchAccess::message(batch));
    int answers = 0, sends = 0;
    // All along: before the good-bye, between its parts, and after it.
    for (; sends < 200; ++sends) {
        world.client_loop.run_after(20us * sends, [&] {
            world.core->send(0, message, [&](const Result<>&) { ++answers; });
        });
    }

    const Instant begun = world.now();
    world.stop_door();

    EXPECT_TRUE(world.run_until([&] { return answers == sends; }, 60s)) << answers;
    EXPECT_LT(world.now() - begun, 10s) << "they fail, or go on, at once";
}

TEST(ProducerSim, ends_what_waits_when_it_goes) {
    SimWorld world;
    world.connect();
    SendBatch batch({.partition = 0}, 1000);
    ASSERT_TRUE(batch.try_add("x"));
    std::optional<Result<>> result;
    world.core->send(
        0, std::make_shared<const std::vector<std::byte>>(producer::BatchAccess::message(batch)),
        [&](Result<> sent) { result = std::move(sent); });

    world.core.reset();

    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->error().code, ErrorCode::cancelled);
}

TEST(BufferedSim, sends_events_together_that_go_the_same_way) {
    SimWorld world;
    world.connect();
    ASSERT_TRUE(world.open_producer().ok());
    Buffered producer(world, {.wait_max = 20ms, .in_flight_max = 4});
    for (int i = 0; i < 10; ++i) producer.add(0, "", "to 0: " + std::to_string(i));
    for (int i = 0; i < 10; ++i) producer.add(1, "", "to 1: " + std::to_string(i));
    const Instant before = world.now();

    ASSERT_TRUE(world.run_until([&] { return producer.settled == 20; }));

    EXPECT_EQ(producer.batches, 2u);
    EXPECT_GE(world.now() - before, Duration(20ms));
    EXPECT_EQ(stored(world, 1).front(), "to 1: 0");
}

TEST(BufferedSim, does_not_wait_when_a_batch_is_full_or_flushed) {
    door::DoorOptions options;
    options.message_bytes_max = 1000;
    SimWorld world(1, options);
    world.connect();
    ASSERT_TRUE(world.open_producer().ok());
    Buffered producer(world, {.wait_max = 1h, .in_flight_max = 4});
    for (int i = 0; i < 10; ++i) producer.add(0, "", std::string(300, 'x'));
    ASSERT_TRUE(world.run_until([&] { return producer.settled == 9; }, 1min));

    bool flushed = false;
    world.buffer->flush([&] { flushed = true; });
    ASSERT_TRUE(world.run_until([&] { return flushed; }, 1min));

    EXPECT_EQ(producer.settled, 10u);
}

// SEND-3
TEST(BufferedSim, keeps_the_order_of_each_partition_and_key_under_faults) {
    SimWorld world(3);
    world.connect({.retry = {.retries_max = 20, .delay = 10ms, .delay_max = 100ms}});
    ASSERT_TRUE(world.open_producer().ok());
    Buffered producer(world, {.wait_max = 1ms, .in_flight_max = 8});
    Random random = world.scheduler().fork_random();
    std::size_t added = 0;
    std::map<std::string, std::vector<std::string>> by_lane;
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < 20; ++i) {
            const auto lane = random.below(6);
            const bool keyed = lane >= 3;
            const std::string name = (keyed ? "key-" : "partition-") + std::to_string(lane);
            const std::string body = name + " " + std::to_string(added++);
            by_lane[name].push_back(body);
            if (keyed) {
                producer.add(std::nullopt, name, body);
            } else {
                producer.add(static_cast<std::uint32_t>(lane), "", body);
            }
        }
        world.run_for(std::chrono::microseconds(random.below(3000)));
        if (random.chance(1, 4)) world.reset_connections();
        if (round == 50) {
            world.stop_door();
            world.start_door();
        }
    }
    bool flushed = false;
    world.buffer->flush([&] { flushed = true; });
    ASSERT_TRUE(world.run_until([&] { return flushed; }));

    EXPECT_EQ(producer.failed, 0u) << (producer.why ? producer.why->detail : "");
    EXPECT_EQ(producer.settled, added);
    std::map<std::string, std::vector<std::string>> got;
    for (std::uint32_t partition = 0; partition < 3; ++partition) {
        for (const auto& body : without_repeats(stored(world, partition))) {
            got[body.substr(0, body.find(' '))].push_back(body);
        }
    }
    EXPECT_EQ(got, by_lane);
}

// SEND-2, SEND-3
TEST(BufferedSim, numbered_stores_each_event_once_in_the_order_of_its_key) {
    SimWorld world(3);
    open_numbered(world);
    Buffered producer(
        world, {.wait_max = 1ms, .in_flight_max = 8, .event_overhead = producer::stamp_bytes_max});
    Random random = world.scheduler().fork_random();
    std::map<std::string, Texts> by_key;
    for (int i = 0; i < 600; ++i) {
        const std::string key = "key-" + std::to_string(random.below(5));
        by_key[key].push_back(key + " " + std::to_string(i));
        producer.add(std::nullopt, key, by_key[key].back());
        world.run_for(std::chrono::microseconds(random.below(300)));
        if (i % 20 == 19) world.reset_connections();
    }
    bool flushed = false;
    world.buffer->flush([&] { flushed = true; });
    ASSERT_TRUE(world.run_until([&] { return flushed; }));

    EXPECT_EQ(producer.settled, 600u) << (producer.why ? producer.why->detail : "");
    std::map<std::string, Texts> got;
    for (std::uint32_t partition = 0; partition < 3; ++partition) {
        for (const auto& body : stored(world, partition)) {
            got[body.substr(0, body.find(' '))].push_back(body);
        }
    }
    EXPECT_EQ(got, by_key) << "nothing twice, nothing missing";
}

TEST(BufferedSim, tells_what_failed_for_good_and_goes_on) {
    SimWorld world(2);
    world.connect();
    ASSERT_TRUE(world.open_producer().ok());
    Buffered producer(world, {.wait_max = 1ms, .in_flight_max = 4});

    producer.add(9, "", "nowhere");
    producer.add(0, "", "somewhere");
    ASSERT_TRUE(world.run_until([&] { return producer.batches == 2; }));

    EXPECT_EQ(producer.failed, 1u);
    EXPECT_EQ(producer.why->code, ErrorCode::not_found);
    EXPECT_EQ(producer.settled, 1u);
}

TEST(BufferedSim, fails_events_that_the_hub_takes_no_longer) {
    SimWorld world;
    world.connect();
    ASSERT_TRUE(world.open_producer().ok());
    Buffered producer(world, {.wait_max = 1ms, .in_flight_max = 4});
    producer.add(std::nullopt, "", std::string(5000, 'x'));
    ASSERT_TRUE(world.run_until([&] { return producer.batches == 1; }));
    door::DoorOptions smaller;
    smaller.message_bytes_max = 1000;
    world.restart_door(smaller);
    producer.add(std::nullopt, "", "small");
    ASSERT_TRUE(world.run_until([&] { return producer.batches == 2; }));

    producer.add(std::nullopt, "", std::string(5000, 'x'));
    producer.add(std::nullopt, "", "small");
    ASSERT_TRUE(world.run_until([&] { return producer.batches == 4; }));

    EXPECT_EQ(producer.failed, 1u);
    EXPECT_EQ(producer.why->code, ErrorCode::invalid_argument);
    EXPECT_EQ(producer.settled, 3u);
}

}  // namespace
}  // namespace evenkeel::test
