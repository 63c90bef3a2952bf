// How long calls of the public clients block: deadlines and stops, against a hub that falls silent.
#include <functional>
#include <set>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "client/hub_process.h"
#include "support/faulty_proxy.h"
#include <evenkeel/buffered_producer.h>
#include <evenkeel/consumer.h>
#include <evenkeel/producer.h>

namespace evenkeel::test {
namespace {

using namespace std::chrono_literals;

// A hub behind a proxy that can hold everything back: it accepts, and never answers.
struct HubBehindProxy {
    HubBehindProxy() { EXPECT_TRUE(hub.create("homes", 1).ok()); }

    ClientOptions options() const {
        return {.connection = "amqp://" + key_name + ":" + key +
                              "@127.0.0.1:" + std::to_string(proxy.port()) + "/homes",
                .retry = {.retries_max = 1000, .delay = 5ms, .delay_max = 50ms}};
    }
    // What is stored, and one more event behind it.
    std::vector<std::string> stored() {
        auto client = Client::open(hub.connection_string("homes")).value();
        EXPECT_TRUE(Producer::open(*client).value()->send("end").ok());
        auto reader = RemoteReader::open(*client, "$Default", 0, Position::earliest()).value();
        std::vector<std::string> texts;
        while (texts.empty() || texts.back() != "end") {
            const auto batch = reader->read(100, 30s);
            if (!batch.ok() || batch->empty()) {
                ADD_FAILURE() << "nothing came";
                break;
            }
            for (const auto& event : *batch) texts.emplace_back(event.text());
        }
        return texts;
    }

    HubProcess hub;
    FaultyProxy proxy{hub.port()};
};

struct NamedCall {
    std::string name;
    std::function<Result<>(const CallOptions&)> call;
};

template <typename T>
Result<> without_value(const Result<T>& result) {
    return result.ok() ? Result<>() : Result<>(result.error());
}

// Every call that waits for the hub before anything is open.
std::vector<NamedCall> calls_that_connect(Client& client, const ClientOptions& own) {
    return {
        {"properties", [&](auto& call) { return without_value(client.properties(call)); }},
        {"properties of a partition",
         [&](auto& call) { return without_value(client.properties(0, call)); }},
        {"producer", [&](auto& call) { return without_value(Producer::open(client, {}, call)); }},
        {"producer of its own",
         [&](auto& call) { return without_value(Producer::open(own, {}, call)); }},
        {"numbered producer",
         [&](auto& call) {
             return without_value(Producer::open(own, {.idempotent = true}, call));
         }},
        {"buffered producer",
         [&](auto& call) { return without_value(BufferedProducer::open(own, {}, call)); }},
        {"reader",
         [&](auto& call) {
             return without_value(
                 RemoteReader::open(client, "$Default", 0, Position::earliest(), {}, call));
         }},
        {"reader from the end",
         [&](auto& call) {
             return without_value(
                 RemoteReader::open(client, "$Default", 0, Position::latest(), {}, call));
         }},
    };
}

// Makes the call on a thread of its own, and requests a stop once that thread runs.
Result<> stopped_by_another_thread(const NamedCall& named) {
    std::stop_source stop;
    Promise<bool> begun;
    Promise<Result<>> ended;
    std::thread caller([&] {
        begun.set(true);
        ended.set(named.call({.stop = stop.get_token()}));
    });
    begun.wait();
    stop.request_stop();
    stop.request_stop();  // once more changes nothing
    Result<> result = ended.wait();
    caller.join();
    return result;
}

ErrorCode code_of(const Result<>& result) {
    EXPECT_FALSE(result.ok());
    return result.ok() ? ErrorCode::corrupt : result.error().code;
}

TEST(CallOptions, a_silent_hub_ends_each_call_at_its_deadline) {
    HubBehindProxy world;
    world.proxy.hold(true);
    const ClientOptions own = world.options();
    auto client = Client::open(own).value();
    const SystemClock clock;
    const Instant begun = clock.now();

    for (const NamedCall& named : calls_that_connect(*client, own)) {
        EXPECT_EQ(code_of(named.call({.timeout = 20ms})), ErrorCode::timed_out) << named.name;
    }

    EXPECT_LT(clock.now() - begun, own.retry.try_timeout) << "less than one attempt";
    world.proxy.hold(false);
    EXPECT_TRUE(client->properties().ok()) << "the client can be used afterwards";
}

TEST(CallOptions, a_stop_on_another_thread_ends_each_call) {
    HubBehindProxy world;
    world.proxy.hold(true);
    const ClientOptions own = world.options();
    auto client = Client::open(own).value();

    for (const NamedCall& named : calls_that_connect(*client, own)) {
        EXPECT_EQ(code_of(stopped_by_another_thread(named)), ErrorCode::cancelled) << named.name;
    }

    world.proxy.hold(false);
    EXPECT_TRUE(client->properties().ok()) << "the client can be used afterwards";
}

TEST(CallOptions, a_stop_before_the_call_begins_nothing) {
    HubBehindProxy world;
    const ClientOptions own = world.options();
    auto client = Client::open(own).value();
    auto producer = Producer::open(*client).value();
    auto buffer = BufferedProducer::open(*client).value();
    auto reader = RemoteReader::open(*client, "$Default", 0, Position::earliest()).value();
    std::stop_source stop;
    stop.request_stop();
    const CallOptions stopped{.stop = stop.get_token()};
    auto batch = producer->make_batch().value();
    ASSERT_TRUE(batch.try_add("batch"));

    for (const NamedCall& named : calls_that_connect(*client, own)) {
        EXPECT_EQ(code_of(named.call(stopped)), ErrorCode::cancelled) << named.name;
    }
    EXPECT_EQ(producer->send("sent", {}, stopped).error().code, ErrorCode::cancelled);
    EXPECT_EQ(producer->send_with_receipt(batch, stopped).error().code, ErrorCode::cancelled);
    EXPECT_EQ(buffer->enqueue({.body = "b"}, {}, stopped).error().code, ErrorCode::cancelled);
    EXPECT_EQ(buffer->flush(stopped).error().code, ErrorCode::cancelled);
    EXPECT_EQ(reader->read(1, 30s, stopped.stop).error().code, ErrorCode::cancelled);

    EXPECT_TRUE(buffer->flush().ok());
    EXPECT_EQ(world.stored(), std::vector<std::string>{"end"});
    EXPECT_EQ(reader->read(1, 30s).value()[0].text(), "end") << "the reader can be used afterwards";
}

// The outcome of a send that was given up is not known: here it is stored later, before the next.
TEST(CallOptions, a_send_that_was_given_up_may_be_stored_later) {
    HubBehindProxy world;
    auto producer = Producer::open(world.options(), {.receipts = true}).value();
    auto batch = producer->make_batch().value();
    ASSERT_TRUE(batch.try_add("second"));
    world.proxy.hold(true);

    EXPECT_EQ(producer->send("first", {}, {.timeout = 20ms}).error().code, ErrorCode::timed_out);
    EXPECT_EQ(producer->send_with_receipt(batch, {.timeout = 20ms}).error().code,
              ErrorCode::timed_out);
    EXPECT_EQ(code_of(stopped_by_another_thread(
                  {"send", [&](auto& call) { return producer->send("third", {}, call); }})),
              ErrorCode::cancelled);

    world.proxy.hold(false);
    const std::size_t before = batch.size();
    EXPECT_EQ(before, 1u) << "the batch is the caller's, and as it was";
    const auto receipt = producer->send_with_receipt(batch);
    ASSERT_TRUE(receipt.ok()) << to_string(receipt.error());
    // A stop may come before the third is begun; the first two are stored in any case.
    EXPECT_GE(receipt->last_sequence_number.value_or(-1), 2);
    const auto stored = world.stored();
    EXPECT_EQ(stored[0], "first");
    EXPECT_EQ(stored[1], "second");
}

TEST(CallOptions, what_was_acknowledged_beside_a_stop_is_stored) {
    HubBehindProxy world;
    auto producer = Producer::open(world.options()).value();
    std::set<std::string> acknowledged;
    for (int i = 0; i < 50; ++i) {
        std::stop_source stop;
        std::thread stops([&] { stop.request_stop(); });

        const auto sent = producer->send(std::to_string(i), {}, {.stop = stop.get_token()});

        stops.join();
        if (sent.ok()) acknowledged.insert(std::to_string(i));
        if (!sent.ok()) {
            EXPECT_EQ(sent.error().code, ErrorCode::cancelled);
        }
    }

    ASSERT_TRUE(producer->send("last").ok()) << "the producer can be used afterwards";

    const auto stored = world.stored();
    const std::set<std::string> once(stored.begin(), stored.end());
    EXPECT_EQ(once.size(), stored.size()) << "nothing is stored twice";
    for (const auto& text : acknowledged) EXPECT_TRUE(once.contains(text)) << text;
}

TEST(CallOptions, a_reader_loses_no_event_to_a_stop) {
    constexpr std::int64_t events = 200;
    HubBehindProxy world;
    auto client = Client::open(world.options()).value();
    auto reader = RemoteReader::open(*client, "$Default", 0, Position::earliest()).value();
    std::thread sends([&] {
        auto producer = Producer::open(world.hub.connection_string("homes")).value();
        for (int i = 0; i < events; ++i) EXPECT_TRUE(producer->send("event").ok());
    });
    std::int64_t next = 0;
    while (next < events) {
        std::stop_source stop;
        std::thread stops([&] { stop.request_stop(); });
        const auto batch = reader->read(7, 60s, stop.get_token());
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

TEST(CallOptions, a_full_buffer_is_waited_for_until_a_deadline_or_a_stop) {
    HubBehindProxy world;
    auto buffer = BufferedProducer::open(world.options(), {.events_max = 1}).value();
    world.proxy.hold(true);
    ASSERT_TRUE(buffer->enqueue({.body = "first"}).ok());
    const NamedCall enqueue{
        "enqueue", [&](auto& call) { return buffer->enqueue({.body = "refused"}, {}, call); }};
    const NamedCall flush{"flush", [&](auto& call) { return buffer->flush(call); }};

    EXPECT_EQ(code_of(enqueue.call({.timeout = 20ms})), ErrorCode::timed_out);
    EXPECT_EQ(code_of(stopped_by_another_thread(enqueue)), ErrorCode::cancelled);
    EXPECT_EQ(code_of(flush.call({.timeout = 20ms})), ErrorCode::timed_out);
    EXPECT_EQ(code_of(stopped_by_another_thread(flush)), ErrorCode::cancelled);

    world.proxy.hold(false);
    EXPECT_TRUE(buffer->flush().ok()) << "sending went on";
    EXPECT_EQ(world.stored(), (std::vector<std::string>{"first", "end"}));
}

TEST(CallOptions, a_flush_that_was_given_up_leaves_the_failure_to_the_next) {
    HubBehindProxy world;
    ClientOptions hasty = world.options();
    hasty.retry.retries_max = 0;
    auto buffer = BufferedProducer::open(hasty).value();
    world.proxy.hold(true);
    ASSERT_TRUE(buffer->enqueue({.body = "lost"}).ok());
    EXPECT_EQ(buffer->flush({.timeout = 20ms}).error().code, ErrorCode::timed_out);

    world.proxy.refuse_and_wait();

    EXPECT_EQ(buffer->flush().error().code, ErrorCode::unavailable);
    EXPECT_TRUE(buffer->flush().ok()) << "it is reported once";
}

}  // namespace
}  // namespace evenkeel::test
