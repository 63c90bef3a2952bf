// The public Processor in one process: over AMQP and embedded, on memory and SQLite.
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include "base/promise.h"
#include "client/hub_process.h"
#include "process/processor/history.h"
#include "support/temporary_directory.h"
#include <evenkeel/hub.h>
#include <evenkeel/processor.h>
#include <evenkeel/producer.h>

namespace evenkeel::test {
namespace {

using namespace std::chrono_literals;

void send(const HubProcess& hub, std::uint32_t partitions, int events) {
    auto producer = Producer::open(hub.connection_string("homes")).value();
    for (std::uint32_t p = 0; p < partitions; ++p) {
        auto batch = producer->make_batch({.partition = p}).value();
        for (int i = 0; i < events; ++i) ASSERT_TRUE(batch.try_add("event"));
        ASSERT_TRUE(producer->send(batch).ok());
    }
}

ProcessorOptions options_for(const HubProcess& hub, const std::string& store, std::string id) {
    ProcessorOptions options;
    options.hub = hub.connection_string("homes");
    options.store = store;
    options.id = std::move(id);
    options.profile = Profile::fast;
    options.on_error = [](const Failure&) {};
    return options;
}

BatchHandler recording(History& history) {
    return batch_handler([&history](Partition& partition, const Event& event) {
        history.add(partition.id(), event.sequence_number);
    });
}

TEST(Processor, reads_a_hub_over_amqp_and_goes_on_where_it_was) {
    HubProcess hub;
    TemporaryDirectory folder;
    ASSERT_TRUE(hub.create("homes", 4).ok());
    const std::string store = "sqlite:" + folder.path() + "/progress.db";
    History history;
    send(hub, 4, 500);
    {
        auto processor = Processor::open(options_for(hub, store, "a")).value();
        ASSERT_TRUE(processor->start(recording(history)).ok());
        history.wait_for(2000);
        EXPECT_EQ(processor->status().partitions.size(), 4u);
        EXPECT_TRUE(processor->stop().is_clean);
        EXPECT_TRUE(processor->wait().ok());
    }
    send(hub, 4, 10);

    auto processor = Processor::open(options_for(hub, store, "b")).value();
    ASSERT_TRUE(processor->start(recording(history)).ok());
    history.wait_for(2040);
    EXPECT_TRUE(processor->stop().is_clean);

    for (const auto& [partition, handled] : history.handled()) expect_each_once(handled, 510);
}

TEST(Processor, shares_a_hub_with_another_and_repeats_nothing) {
    HubProcess hub;
    TemporaryDirectory folder;
    ASSERT_TRUE(hub.create("homes", 4).ok());
    const std::string store = "sqlite:" + folder.path() + "/progress.db";
    History history;
    auto a = Processor::open(options_for(hub, store, "a")).value();
    auto b = Processor::open(options_for(hub, store, "b")).value();
    ASSERT_TRUE(a->start(recording(history)).ok());
    send(hub, 4, 300);
    history.wait_for(1200);

    ASSERT_TRUE(b->start(recording(history)).ok());
    const SystemClock clock;
    const Instant end = clock.now() + 30s;
    while (b->status().partitions.size() != 2 && clock.now() < end) std::this_thread::yield();
    send(hub, 4, 300);
    history.wait_for(2400);

    EXPECT_EQ(a->status().partitions.size(), 2u) << a->explain();
    EXPECT_EQ(b->status().partitions.size(), 2u);
    EXPECT_TRUE(a->stop().is_clean);
    EXPECT_TRUE(b->stop().is_clean);
    for (const auto& [partition, handled] : history.handled()) expect_each_once(handled, 600);
}

TEST(Processor, refuses_a_second_one_with_its_id) {
    HubProcess hub;
    TemporaryDirectory folder;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    const std::string store = "sqlite:" + folder.path() + "/progress.db";
    History history;
    auto first = Processor::open(options_for(hub, store, "same")).value();
    auto second = Processor::open(options_for(hub, store, "same")).value();
    ASSERT_TRUE(first->start(recording(history)).ok());

    const auto refused = second->start(recording(history));

    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::conflict);
}

TEST(Processor, survives_a_restart_of_the_hub) {
    HubProcess hub;
    TemporaryDirectory folder;
    ASSERT_TRUE(hub.create("homes", 2).ok());
    History history;
    auto processor =
        Processor::open(options_for(hub, "sqlite:" + folder.path() + "/progress.db", "a")).value();
    ASSERT_TRUE(processor->start(recording(history)).ok());
    send(hub, 2, 100);
    history.wait_for(200);

    hub.restart();
    send(hub, 2, 100);
    history.wait_for(400);

    EXPECT_TRUE(processor->stop().is_clean);
    for (const auto& [partition, handled] : history.handled()) expect_each_once(handled, 200);
}

TEST(Processor, reads_a_hub_in_its_own_process) {
    TemporaryDirectory folder;
    auto hub = Hub::open({.directory = folder.path() + "/data", .sync_to_disk = false}).value();
    ASSERT_TRUE(hub->create("homes", {.partitions = 2}).ok());
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(hub->send("homes", "event").ok());
    History history;
    ProcessorOptions options;
    options.hub_here = hub.get();
    options.event_hub = "homes";
    options.store = "memory:reads_a_hub_in_its_own_process";
    options.on_error = [](const Failure&) {};
    auto processor = Processor::open(options).value();

    ASSERT_TRUE(processor->start(recording(history)).ok());
    history.wait_for(100);

    EXPECT_TRUE(processor->stop().is_clean);
    processor.reset();
    for (const auto& [partition, handled] : history.handled()) expect_each_once(handled, 50);
}

TEST(Processor, that_outlives_its_hub_is_told_so_and_stops) {
    TemporaryDirectory folder;
    auto hub = Hub::open({.directory = folder.path() + "/data", .sync_to_disk = false}).value();
    ASSERT_TRUE(hub->create("homes", {.partitions = 2}).ok());
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(hub->send("homes", "event").ok());
    History history;
    Promise<Error> told;
    ProcessorOptions options;
    options.hub_here = hub.get();
    options.event_hub = "homes";
    options.store = "memory:that_outlives_its_hub";
    options.on_error = [&](const Failure& failure) {
        if (failure.scope == ErrorScope::source && !told.is_set()) told.set(failure.error);
    };
    auto processor = Processor::open(options).value();
    ASSERT_TRUE(processor->start(recording(history)).ok());
    history.wait_for(10);

    hub.reset();

    EXPECT_EQ(told.wait().code, ErrorCode::cancelled);
    EXPECT_EQ(processor->status().events_handled, 10u);
    EXPECT_TRUE(processor->stop().is_clean);
    processor.reset();
    EXPECT_TRUE(Hub::open({.directory = folder.path() + "/data"}).ok()) << "the folder is free";
}

TEST(Processor, on_error_may_look_and_ask_to_stop) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    send(hub, 1, 1);
    std::unique_ptr<Processor> processor;
    struct Seen {
        std::string metrics, explained;
        std::size_t partitions;
        ErrorCode waited, started;
    };
    Promise<Seen> seen;
    auto options = options_for(hub, "memory:on_error_may_look", "a");
    options.on_error = [&](const Failure&) {
        if (seen.is_set()) return;
        seen.set({processor->metrics(), processor->explain(), processor->status().partitions.size(),
                  processor->wait().error().code,
                  processor->start([](Partition&, Events) {}).error().code});
        EXPECT_FALSE(processor->stop().is_clean) << "it only asks";
    };
    processor = Processor::open(options).value();

    ASSERT_TRUE(processor
                    ->start([](Partition&, const Event&) -> Result<> {
                        return Error{ErrorCode::handler_failed, "for the test"};
                    })
                    .ok());

    const Seen told = seen.wait();
    EXPECT_NE(told.metrics.find("evenkeel_"), std::string::npos);
    EXPECT_NE(told.explained, "not started");
    EXPECT_EQ(told.partitions, 1u);
    EXPECT_EQ(told.waited, ErrorCode::unsupported);
    EXPECT_EQ(told.started, ErrorCode::unsupported);
    EXPECT_TRUE(processor->wait().ok()) << "it has stopped";
}

TEST(Processor, two_run_in_two_threads_until_one_signal) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 2).ok());
    send(hub, 2, 10);
    History history;
    std::vector<int> codes(2, -1);
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 2; ++i) {
            threads.emplace_back([&, i] {
                // An owner as a program may have it.
                const std::unique_ptr<Processor> processor =
                    Processor::open(
                        options_for(hub, "memory:two_run_in_two_threads", i == 0 ? "a" : "b"))
                        .value();
                codes[static_cast<std::size_t>(i)] =
                    run(processor, [&](Partition& partition, const Event& event) {
                        history.add(partition.id(), event.sequence_number);
                    });
            });
        }
        history.wait_for(20);
        raise(SIGTERM);
    }
    EXPECT_EQ(codes, (std::vector<int>{0, 0}));
    EXPECT_EQ(signal(SIGTERM, SIG_DFL), SIG_DFL) << "as before";
}

TEST(Processor, stores_what_a_handler_flushes_before_it_ends) {
    HubProcess hub;
    TemporaryDirectory folder;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    send(hub, 1, 10);
    auto options = options_for(hub, "sqlite:" + folder.path() + "/progress.db", "a");
    options.checkpoints.manual = true;
    Promise<Result<>> flushed;
    auto processor = Processor::open(options).value();

    ASSERT_TRUE(processor
                    ->start(BatchHandler([&](Partition& partition, Events events) -> Result<> {
                        partition.checkpoint(events.back());
                        flushed.set(partition.flush());
                        return {};
                    }))
                    .ok());

    EXPECT_TRUE(flushed.wait().ok());
    EXPECT_TRUE(processor->stop().is_clean);
}

TEST(Processor, names_what_is_wrong_when_it_is_opened) {
    EXPECT_EQ(Processor::open({}).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(Processor::open({.hub = "nonsense", .store = "memory:"}).error().code,
              ErrorCode::invalid_argument);
    EXPECT_EQ(Processor::open({.hub = "amqp://localhost/homes", .store = "nonsense"}).error().code,
              ErrorCode::invalid_argument);
    const std::unique_ptr<Processor> none;
    EXPECT_EQ(run(none, [](Partition&, Events) {}), 2);

    HubProcess hub;
    EXPECT_EQ(Processor::open(options_for(hub, "memory:", "a")).error().code, ErrorCode::not_found);
}

TEST(Processor, names_a_consumer_group_that_does_not_exist) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    auto remote = options_for(hub, "memory:", "a");
    remote.group = "billing";
    TemporaryDirectory folder;
    auto here = Hub::open({.directory = folder.path() + "/data", .sync_to_disk = false}).value();
    ASSERT_TRUE(here->create("homes", {.partitions = 1}).ok());
    ProcessorOptions embedded;
    embedded.hub_here = here.get();
    embedded.event_hub = "homes";
    embedded.group = "billing";
    embedded.store = "memory:";

    for (const auto& options : {remote, embedded}) {
        const auto opened = Processor::open(options);

        ASSERT_FALSE(opened.ok());
        EXPECT_EQ(opened.error().code, ErrorCode::not_found);
        EXPECT_TRUE(
            opened.error().detail.starts_with("event hub 'homes' has no consumer group 'billing'"))
            << opened.error().detail;
    }
    ASSERT_TRUE(here->create_group("homes", "billing").ok());
    EXPECT_TRUE(Processor::open(embedded).ok());
}

}  // namespace
}  // namespace evenkeel::test
