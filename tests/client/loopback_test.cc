// The public clients against a real door on real sockets.
#include <gtest/gtest.h>

#include "client/hub_process.h"
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
    auto producer = Producer::open(hub.connection_string("homes")).value();
    auto batch = producer->make_batch({.partition = 1}).value();
    ASSERT_TRUE(batch.try_add("one"));
    const std::vector<Property> properties = {{"room", "hall"}, {"level", std::int64_t{3}}};
    ASSERT_TRUE(
        batch.try_add({.body = "two", .content_type = "text/plain", .properties = properties}));

    const auto sent = producer->send(batch);

    ASSERT_TRUE(sent.ok()) << sent.error().detail;
    auto reader = open_reader(producer->client(), "$Default", 1, Position::earliest()).value();
    const auto events = reader->read(1, 30s).value();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].text(), "one");
    EXPECT_EQ(events[0].sequence_number, 0);
    EXPECT_EQ(events[0].offset, 0);
    EXPECT_GT(events[0].enqueued_time_ms, 1'600'000'000'000);
    EXPECT_EQ(read_texts(*reader, 1), std::vector<std::string>{"two"});
}

}  // namespace
}  // namespace evenkeel::test
