// The public clients against a real door on real sockets.
#include <algorithm>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "base/time_point.h"
#include "client/hub_process.h"
#include "support/faulty_proxy.h"
#include <evenkeel/buffered_producer.h>
#include <evenkeel/consumer.h>
#include <evenkeel/producer.h>

namespace evenkeel::test {
namespace {

using namespace std::chrono_literals;

// Reads until so many events are there.
std::vector<std::string> read_texts(Reader& reader, std::size_t count) {
    std::vector<std::string> texts;
    while (texts.size() < count) {
        const auto batch = reader.read(count - texts.size(), 30s);
        if (!batch.ok() || batch->empty()) {
            ADD_FAILURE() << (batch.ok() ? "nothing came" : to_string(batch.error()));
            break;
        }
        for (const auto& event : *batch) texts.emplace_back(event.text());
    }
    return texts;
}

TEST(ClientLoopback, reads_back_what_was_sent) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 2).ok());
    auto client = Client::open(hub.connection_string("homes")).value();
    auto producer = Producer::open(*client).value();
    auto batch = producer->make_batch({.partition = 1}).value();
    ASSERT_TRUE(batch.try_add("one"));
    const std::vector<Property> properties = {{"room", "hall"}, {"level", std::int64_t{3}}};
    ASSERT_TRUE(
        batch.try_add({.body = "two", .content_type = "text/plain", .properties = properties}));

    const auto sent = producer->send(batch);

    ASSERT_TRUE(sent.ok()) << sent.error().detail;
    auto reader = RemoteReader::open(*client, "$Default", 1, Position::earliest()).value();
    const auto events = reader->read(1, 30s).value();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].text(), "one");
    EXPECT_EQ(events[0].sequence_number, 0);
    EXPECT_EQ(events[0].offset, 0);
    EXPECT_GT(wall_time(events[0].enqueued_time).milliseconds, 1'600'000'000'000);
    EXPECT_EQ(read_texts(*reader, 1), std::vector<std::string>{"two"});
}

TEST(ClientLoopback, tells_about_hub_and_partitions) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 3).ok());
    auto client = Client::open(hub.connection_string("homes")).value();

    const auto properties = client->properties();
    const auto partition = client->properties(2);

    ASSERT_TRUE(properties.ok()) << properties.error().detail;
    EXPECT_EQ(properties->name, "homes");
    EXPECT_EQ(properties->partitions, 3u);
    ASSERT_TRUE(partition.ok()) << partition.error().detail;
    EXPECT_TRUE(partition->is_empty);
    EXPECT_EQ(client->properties(3).error().code, ErrorCode::not_found);
}

TEST(ClientLoopback, goes_on_after_a_restart_of_the_hub) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    auto client = Client::open({.connection = hub.connection_string("homes"),
                                .retry = {.retries_max = 100, .delay = 5ms, .delay_max = 50ms}})
                      .value();
    auto producer = Producer::open(*client).value();
    auto reader = RemoteReader::open(*client, "$Default", 0, Position::earliest()).value();
    ASSERT_TRUE(producer->send("before").ok());
    EXPECT_EQ(read_texts(*reader, 1), std::vector<std::string>{"before"});

    hub.restart();

    const auto sent = producer->send("after");
    ASSERT_TRUE(sent.ok()) << sent.error().detail;
    EXPECT_EQ(read_texts(*reader, 1), std::vector<std::string>{"after"});
}

// CLIENT-4
TEST(ClientLoopback, ends_a_reader_whose_hub_was_restored_and_written_on) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    const ClientOptions options{.connection = hub.connection_string("homes"),
                                .retry = {.retries_max = 100, .delay = 5ms, .delay_max = 50ms}};
    auto client = Client::open(options).value();
    auto reader = RemoteReader::open(*client, "$Default", 0, Position::earliest()).value();
    {
        auto producer = Producer::open(*client).value();
        ASSERT_TRUE(producer->send("kept").ok());
        EXPECT_EQ(read_texts(*reader, 1), std::vector<std::string>{"kept"});
        hub.stop();
        const auto copy = hub.data_folder() + ".copy";
        std::filesystem::copy(hub.data_folder(), copy, std::filesystem::copy_options::recursive);
        hub.start();
        ASSERT_TRUE(producer->send("lost with the restore").ok());
        EXPECT_EQ(read_texts(*reader, 1), std::vector<std::string>{"lost with the restore"});
        hub.stop();
        std::filesystem::remove_all(hub.data_folder());
        std::filesystem::rename(copy, hub.data_folder());
    }
    hub.start();
    auto producer = Producer::open(hub.connection_string("homes")).value();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(producer->send("written after it").ok());

    const auto read = reader->read(10, 20s);

    ASSERT_FALSE(read.ok());
    const auto code = read.error().code;
    EXPECT_TRUE(code == ErrorCode::conflict || code == ErrorCode::invalid_argument)
        << to_string(read.error());
}

TEST(ClientLoopback, tells_of_damaged_events_by_name_and_goes_on_behind_them) {
    HubProcess hub(64);  // an event a segment
    ASSERT_TRUE(hub.create("homes", 1).ok());
    {
        auto producer = Producer::open(hub.connection_string("homes")).value();
        for (int i = 0; i < 10; ++i) ASSERT_TRUE(producer->send(std::to_string(i)).ok());
    }
    hub.stop();
    std::vector<std::string> segments;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(hub.data_folder())) {
        if (entry.path().extension() == ".log") segments.push_back(entry.path().string());
    }
    std::sort(segments.begin(), segments.end());
    ASSERT_GE(segments.size(), 10u);
    io::system::SystemFiles files;
    auto file = files.open(segments.at(4), io::OpenMode::write).value();
    ASSERT_TRUE(file->write(64 + 60, as_bytes("damage")).ok());
    hub.start();
    auto client = Client::open({.connection = hub.connection_string("homes"),
                                .retry = {.retries_max = 100, .delay = 5ms, .delay_max = 50ms}})
                      .value();
    auto reader = RemoteReader::open(*client, "$Default", 0, Position::earliest()).value();
    std::string texts;
    std::vector<Error> errors;

    while (texts.size() + errors.size() < 10) {
        const auto batch = reader->read(3, 20s);
        if (!batch.ok()) {
            errors.push_back(batch.error());
            continue;
        }
        ASSERT_FALSE(batch->empty());
        for (const auto& event : *batch) texts += event.text();
    }

    EXPECT_EQ(texts, "012356789");
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].code, ErrorCode::corrupt);
    EXPECT_TRUE(errors[0].detail.starts_with("events 4 to 4 are damaged ")) << errors[0].detail;
}

TEST(ClientLoopback, refuses_a_wrong_key_and_a_missing_right) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());

    const auto wrong = Producer::open(hub.connection_string("homes", "app", "d3Jvbmc="));
    const auto reader_only = Producer::open(hub.connection_string("homes", "reader"));

    ASSERT_FALSE(wrong.ok());
    EXPECT_EQ(wrong.error().code, ErrorCode::not_allowed);
    EXPECT_EQ(wrong.error().detail.find("d3Jvbmc"), std::string::npos) << "never shows a key";
    ASSERT_FALSE(reader_only.ok());
    EXPECT_EQ(reader_only.error().code, ErrorCode::not_allowed);
}

TEST(ClientLoopback, refuses_an_event_that_is_too_large_before_it_is_sent) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    auto producer = Producer::open(hub.connection_string("homes")).value();
    auto batch = producer->make_batch().value();
    EXPECT_EQ(batch.bytes_max(), std::size_t{1} << 20);

    EXPECT_FALSE(batch.try_add(std::string(batch.bytes_max(), 'x')));

    EXPECT_TRUE(batch.empty());
    EXPECT_TRUE(batch.try_add(std::string(batch.bytes_max() - 100, 'x')));
    EXPECT_FALSE(batch.try_add(std::string(100, 'x')));
    EXPECT_TRUE(producer->send(batch).ok());
    EXPECT_EQ(producer->send(std::string(2 << 20, 'x')).error().code, ErrorCode::invalid_argument);
}

TEST(ClientLoopback, sends_later_up_to_its_bound) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    auto client = Client::open(hub.connection_string("homes")).value();
    auto producer = Producer::open(*client, {.waiting_bytes_max = 10'000}).value();
    auto small = producer->make_batch({.partition = 0}).value();
    ASSERT_TRUE(small.try_add("small"));
    auto large = producer->make_batch({.partition = 0}).value();
    ASSERT_TRUE(large.try_add(std::string(20'000, 'x')));
    Promise<Result<>> first, second;

    producer->send_later(small, [&](Result<> sent) { first.set(std::move(sent)); });
    producer->send_later(large, [&](Result<> sent) { second.set(std::move(sent)); });

    EXPECT_TRUE(first.wait().ok());
    EXPECT_EQ(second.wait().error().code, ErrorCode::overloaded);
}

TEST(ClientLoopback, takes_single_events_from_many_threads_and_keeps_their_order) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 4).ok());
    auto client = Client::open(hub.connection_string("homes")).value();
    // Little room: enqueue() has to wait for what is under way.
    auto producer =
        BufferedProducer::open(*client, {.events_max = 100, .bytes_max = 5000, .wait_max = 1ms})
            .value();
    constexpr int events = 500;
    std::vector<std::thread> threads;
    for (std::uint32_t partition = 0; partition < 4; ++partition) {
        threads.emplace_back([&producer, partition] {
            for (int i = 0; i < events; ++i) {
                const std::string body = std::to_string(i);
                EXPECT_TRUE(producer->enqueue({.body = body}, {.partition = partition}).ok());
            }
        });
    }
    for (auto& thread : threads) thread.join();

    ASSERT_TRUE(producer->flush().ok());

    for (std::uint32_t partition = 0; partition < 4; ++partition) {
        auto reader =
            RemoteReader::open(*client, "$Default", partition, Position::earliest()).value();
        const auto texts = read_texts(*reader, events);
        for (int i = 0; i < events; ++i)
            EXPECT_EQ(texts[static_cast<std::size_t>(i)], std::to_string(i));
    }
}

TEST(ClientLoopback, numbers_single_events_if_asked_to) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 2).ok());
    auto client = Client::open(hub.connection_string("homes")).value();
    auto producer = BufferedProducer::open(*client, {.wait_max = 1ms, .idempotent = true}).value();

    for (int i = 0; i < 100; ++i) {
        const std::string body = std::to_string(i);
        ASSERT_TRUE(producer->enqueue({.body = body}, {.partition_key = "key1"}).ok());
    }
    ASSERT_TRUE(producer->flush().ok());
    const std::string too_large(1 << 20, 'x');
    EXPECT_EQ(producer->enqueue({.body = too_large}).error().code, ErrorCode::invalid_argument);

    // Of 2 partitions, the key's is 1.
    auto reader = RemoteReader::open(*client, "$Default", 1, Position::earliest()).value();
    const auto texts = read_texts(*reader, 100);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(texts[static_cast<std::size_t>(i)], std::to_string(i));
}

// The proxy cuts after the event is stored, before its acknowledgement comes through.
TEST(ClientLoopback, stores_once_what_an_idempotent_producer_had_to_repeat) {
    for (const auto delay : {0ms, 20ms}) {
        HubProcess hub;
        ASSERT_TRUE(hub.create("homes", 1).ok());
        FaultyProxy proxy(hub.port());
        proxy.slow_down(delay);
        std::string connection = hub.connection_string("homes");
        const std::string port = std::to_string(hub.port());
        connection.replace(connection.find(port), port.size(), std::to_string(proxy.port()));
        auto producer =
            Producer::open({.connection = connection,
                            .retry = {.retries_max = 100, .delay = 5ms, .delay_max = 50ms}},
                           {.idempotent = true})
                .value();
        constexpr std::size_t count = 20;

        for (std::size_t i = 0; i < count; ++i) {
            proxy.lose_answer_after(0);
            const auto sent = producer->send(std::to_string(i), {.partition = 0});
            ASSERT_TRUE(sent.ok()) << i << ": " << sent.error().detail;
        }

        EXPECT_GT(proxy.lost_bytes(), 0u);
        ASSERT_TRUE(Producer::open(hub.connection_string("homes"))
                        .value()
                        ->send("end", {.partition = 0})
                        .ok());
        auto client = Client::open(hub.connection_string("homes")).value();
        auto reader = RemoteReader::open(*client, "$Default", 0, Position::earliest()).value();
        const auto texts = read_texts(*reader, count + 1);
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(texts.at(i), std::to_string(i));
        EXPECT_EQ(texts.back(), "end");
    }
}

TEST(ClientLoopback, says_overloaded_instead_of_waiting_if_asked_to) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    auto client = Client::open(hub.connection_string("homes")).value();
    auto producer = BufferedProducer::open(*client, {.events_max = 2, .wait_max = 1h}).value();

    EXPECT_TRUE(producer->try_enqueue({.body = "a"}).ok());
    EXPECT_TRUE(producer->try_enqueue({.body = "b"}).ok());
    EXPECT_EQ(producer->try_enqueue({.body = "c"}).error().code, ErrorCode::overloaded);
    EXPECT_EQ(
        producer->try_enqueue({.body = "d"}, {.partition = 0, .partition_key = "k"}).error().code,
        ErrorCode::invalid_argument);

    EXPECT_TRUE(producer->flush().ok());
    EXPECT_TRUE(producer->try_enqueue({.body = "c"}).ok());
}

TEST(ClientLoopback, is_fenced_while_it_waits) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    auto client = Client::open(hub.connection_string("homes")).value();
    auto first =
        RemoteReader::open(*client, "$Default", 0, Position::earliest(), {.epoch = 1}).value();
    Promise<Result<EventBatch>> waited;
    std::thread reading([&] { waited.set(first->read(1, 1h)); });

    auto second =
        RemoteReader::open(*client, "$Default", 0, Position::earliest(), {.epoch = 2}).value();

    EXPECT_EQ(waited.wait().error().code, ErrorCode::fenced);
    reading.join();
}

TEST(ClientLoopback, ends_a_read_that_waits_when_the_reader_is_closed) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    auto client = Client::open(hub.connection_string("homes")).value();
    auto reader = RemoteReader::open(*client, "$Default", 0, Position::earliest()).value();
    Promise<Result<EventBatch>> waited;
    std::thread reading([&] { waited.set(reader->read(1, 1h)); });

    reader->close();

    EXPECT_EQ(waited.wait().error().code, ErrorCode::cancelled);
    reading.join();
}

TEST(ClientLoopback, speaks_tls_and_websocket) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    for (const bool websocket : {false, true}) {
        auto client =
            Client::open({.connection = hub.encrypted_connection_string("homes", websocket),
                          .tls_ca_pem = hub.ca_pem()})
                .value();
        const auto before = client->properties(0);
        ASSERT_TRUE(before.ok()) << to_string(before.error());
        auto producer = Producer::open(*client).value();
        const std::string large(300'000, 'x');

        ASSERT_TRUE(producer->send(large).ok());

        const auto start = Position::after_sequence(before->last_enqueued_sequence_number);
        auto reader = RemoteReader::open(*client, "$Default", 0, start).value();
        EXPECT_EQ(read_texts(*reader, 1), std::vector<std::string>{large});
    }
}

TEST(ClientLoopback, refuses_a_hub_that_nobody_vouches_for) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    for (const bool websocket : {false, true}) {
        auto client =
            Client::open({.connection = hub.encrypted_connection_string("homes", websocket),
                          .tls_ca_pem = io::make_self_signed()->certificate_pem})
                .value();

        const auto properties = client->properties();

        ASSERT_FALSE(properties.ok());
        EXPECT_EQ(properties.error().code, ErrorCode::invalid_argument)
            << properties.error().detail;
    }
}

TEST(ClientLoopback, refuses_options_that_make_no_sense) {
    const std::string good = "amqp://app:key@127.0.0.1:1/homes";
    const auto code = [](ClientOptions options) { return Client::open(options).error().code; };

    EXPECT_EQ(code({.connection = ""}), ErrorCode::invalid_argument);
    EXPECT_EQ(code({.connection = "amqp://127.0.0.1"}), ErrorCode::invalid_argument);
    EXPECT_EQ(code({.connection = good, .event_hub = "barns"}), ErrorCode::invalid_argument);
    EXPECT_EQ(code({.connection = good, .token_life = 1s}), ErrorCode::invalid_argument);
    EXPECT_TRUE(Client::open(good).ok()) << "connects to nothing yet";
}

TEST(ClientLifetime, what_outlives_its_client_answers_cancelled) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    auto client = Client::open(hub.connection_string("homes")).value();
    auto producer = Producer::open(*client).value();
    auto buffer = BufferedProducer::open(*client).value();
    auto reader = RemoteReader::open(*client, "$Default", 0, Position::earliest()).value();
    ASSERT_TRUE(producer->send("one").ok());
    const EventBatch kept = reader->read(1, 30s).value();
    const auto batch = producer->make_batch().value();
    Promise<Result<>> later;

    client.reset();

    EXPECT_EQ(producer->send("two").error().code, ErrorCode::cancelled);
    EXPECT_EQ(producer->send("two", {.partition = 0}).error().code, ErrorCode::cancelled);
    EXPECT_EQ(producer->properties().error().code, ErrorCode::cancelled);
    EXPECT_EQ(buffer->enqueue({.body = "two"}).error().code, ErrorCode::cancelled);
    EXPECT_TRUE(buffer->flush().ok()) << "nothing was taken";
    EXPECT_EQ(reader->read(1, 30s).error().code, ErrorCode::cancelled);
    EXPECT_EQ(kept[0].text(), "one") << "what was read stays";
    auto filled = producer->make_batch().value();
    ASSERT_TRUE(filled.try_add("three"));
    producer->send_later(filled, [&](Result<> sent) { later.set(std::move(sent)); });
    EXPECT_EQ(later.wait().error().code, ErrorCode::cancelled);
}

TEST(ClientLifetime, calls_that_wait_end_with_their_client) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    auto client = Client::open(hub.connection_string("homes")).value();
    auto reader = RemoteReader::open(*client, "$Default", 0, Position::earliest()).value();
    io::system::WorkerThread thread("reader");
    std::optional<ErrorCode> code;
    thread.post([&] {
        const auto batch = reader->read(10, 60s);
        if (!batch.ok()) code = batch.error().code;
    });

    client.reset();
    thread.finish();

    EXPECT_EQ(code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace evenkeel::test
