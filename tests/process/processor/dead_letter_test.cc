// Events that nobody can handle, put aside in another event hub: over AMQP and embedded.
#include <gtest/gtest.h>

#include "amqp/message.h"
#include "amqp/performatives.h"
#include "base/promise.h"
#include "client/hub_process.h"
#include "process/processor/history.h"
#include "support/temporary_directory.h"
#include <evenkeel/consumer.h>
#include <evenkeel/hub.h>
#include <evenkeel/processor.h>
#include <evenkeel/producer.h>

namespace evenkeel::test {
namespace {

using namespace std::chrono_literals;

// Fails for good on one event.
BatchHandler failing_on(History& history, std::int64_t poison) {
    return batch_handler([&history, poison](Partition& partition, const Event& event) -> Result<> {
        if (event.sequence_number == poison) {
            return Error{ErrorCode::handler_failed, "no such house"};
        }
        history.add(partition.id(), event.sequence_number);
        return {};
    });
}

void expect_letter(const Event& letter, std::string_view body) {
    EXPECT_EQ(letter.text(), body);
    ByteView rest = letter.sections;
    ByteView properties;
    while (!rest.empty()) {
        const auto section = amqp::next_section(rest).value();
        if (section.kind == amqp::descriptor::application_properties) properties = section.value;
    }
    EXPECT_NE(amqp::text_in(properties, "evenkeel-cause").value_or("").find("no such house"),
              std::string::npos);
    EXPECT_EQ(amqp::integer_in(properties, "evenkeel-attempts"), 2);
    EXPECT_EQ(amqp::text_in(properties, "evenkeel-hub"), "homes");
    EXPECT_EQ(amqp::text_in(properties, "evenkeel-group"), "$Default");
    EXPECT_EQ(amqp::integer_in(properties, "evenkeel-partition"), 0);
    EXPECT_EQ(amqp::integer_in(properties, "evenkeel-sequence"), 7);
}

ProcessorOptions options_with_letters() {
    ProcessorOptions options;
    // One for each test: the entries of another hub are refused.
    options.store =
        std::string("memory:") + testing::UnitTest::GetInstance()->current_test_info()->name();
    options.dead_letter_hub = "letters";
    options.batch_events_max = 1;  // so that only the poisonous event is tried again
    options.retry = {.attempts_max = 2, .delay = 1ms};
    options.on_error = [](const Failure&) {};
    return options;
}

TEST(DeadLetterHub, takes_poison_events_over_amqp) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    ASSERT_TRUE(hub.create("letters", 1).ok());
    auto producer = Producer::open(hub.connection_string("homes")).value();
    auto events = producer->make_batch({.partition_key = "home-17"}).value();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(events.try_add("event " + std::to_string(i)));
    ASSERT_TRUE(producer->send(events).ok());
    auto options = options_with_letters();
    options.hub = hub.connection_string("homes");
    History history;

    auto processor = Processor::open(options).value();
    ASSERT_TRUE(processor->start(failing_on(history, 7)).ok());
    history.wait_for(19);
    EXPECT_TRUE(processor->stop().is_clean);

    auto client = Client::open(hub.connection_string("letters")).value();
    auto reader = RemoteReader::open(*client, "$Default", 0, Position::earliest(), {}).value();
    const auto letters = reader->read(10, 20s).value();
    ASSERT_EQ(letters.size(), 1u);
    expect_letter(letters[0], "event 7");
    EXPECT_EQ(letters[0].partition_key, "home-17");
}

TEST(DeadLetterHub, waits_for_a_hub_that_is_away_and_loses_nothing) {
    HubProcess hub, elsewhere;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    ASSERT_TRUE(elsewhere.create("letters", 1).ok());
    auto producer = Producer::open(hub.connection_string("homes")).value();
    auto events = producer->make_batch({.partition = 0}).value();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(events.try_add("event " + std::to_string(i)));
    ASSERT_TRUE(producer->send(events).ok());
    auto options = options_with_letters();
    options.hub = hub.connection_string("homes");
    options.dead_letter_hub = elsewhere.connection_string("letters");
    Promise<bool> refused;
    options.on_error = [&](const Failure& failure) {
        if (failure.operation == "dead letter" && failure.is_retried) refused.set(true);
    };
    History history;
    auto processor = Processor::open(options).value();

    elsewhere.stop();
    ASSERT_TRUE(processor->start(failing_on(history, 7)).ok());
    EXPECT_TRUE(refused.wait());
    EXPECT_EQ(processor->status().partitions.at(0).handled_sequence, 6) << "not past the event";
    elsewhere.start();
    history.wait_for(19);
    EXPECT_TRUE(processor->stop().is_clean);

    auto client = Client::open(elsewhere.connection_string("letters")).value();
    auto reader = RemoteReader::open(*client, "$Default", 0, Position::earliest(), {}).value();
    const auto letters = reader->read(10, 20s).value();
    ASSERT_GE(letters.size(), 1u);
    expect_letter(letters[0], "event 7");
}

TEST(DeadLetterHub, may_lie_in_the_same_process) {
    TemporaryDirectory folder;
    auto hub = Hub::open({.directory = folder.path() + "/data", .sync_to_disk = false}).value();
    ASSERT_TRUE(hub->create("homes", {.partitions = 1}).ok());
    ASSERT_TRUE(hub->create("letters", {.partitions = 1}).ok());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(hub->send("homes", "event").ok());
    auto options = options_with_letters();
    options.hub_here = hub.get();
    options.event_hub = "homes";
    History history;
    auto processor = Processor::open(options).value();

    ASSERT_TRUE(processor->start(failing_on(history, 7)).ok());
    history.wait_for(19);
    EXPECT_TRUE(processor->stop().is_clean);
    processor.reset();

    auto reader = hub->open_reader("letters", "$Default", 0, Position::earliest()).value();
    const auto letters = reader->read(10, 20s).value();
    ASSERT_EQ(letters.size(), 1u);
    expect_letter(letters[0], "event");
}

TEST(DeadLetterHub, that_is_not_there_or_is_the_one_read_is_told_at_once) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    auto options = options_with_letters();
    options.hub = hub.connection_string("homes");

    const auto missing = Processor::open(options);
    EXPECT_EQ(missing.error().code, ErrorCode::not_found);
    EXPECT_TRUE(missing.error().detail.starts_with("dead_letter_hub: ")) << missing.error().detail;
    options.dead_letter_hub = "HOMES";
    EXPECT_EQ(Processor::open(options).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace evenkeel::test
