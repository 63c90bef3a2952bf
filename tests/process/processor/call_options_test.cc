// How long calls of a Processor block: deadlines and stops, with hubs and stores that fall silent.
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include "base/promise.h"
#include "client/hub_process.h"
#include "process/processor/history.h"
#include "support/faulty_proxy.h"
#include "support/temporary_directory.h"
#include <evenkeel/checkpoint_store.h>
#include <evenkeel/hub.h>
#include <evenkeel/processor.h>

namespace evenkeel::test {
namespace {

using namespace std::chrono_literals;

// One in memory whose calls do not return while it is held.
class HeldStore final : public CheckpointStore {
public:
    ~HeldStore() override { hold(false); }
    void hold(bool on) {
        const Lock lock(mutex_);
        is_held_ = on;
        changed_.notify_all();
    }
    Result<std::optional<Entry>> get(const std::string& key_) override {
        wait();
        return store_->get(key_);
    }
    Result<std::vector<Entry>> list(const std::string& prefix) override {
        wait();
        return store_->list(prefix);
    }
    Result<std::string> put(const std::string& key_, const std::string& value,
                            const std::string& version) override {
        wait();
        return store_->put(key_, value, version);
    }
    Result<> remove(const std::string& key_, const std::string& version) override {
        wait();
        return store_->remove(key_, version);
    }

private:
    void wait() {
        const Lock lock(mutex_);
        while (is_held_) changed_.wait(mutex_);
    }

    const std::shared_ptr<CheckpointStore> store_ = memory_checkpoint_store();
    Mutex mutex_;
    Condition changed_;
    bool is_held_ EK_GUARDED_BY(mutex_) = false;
};

// A hub in this process, and a processor of it.
struct LocalWorld {
    LocalWorld()
        : hub(Hub::open({.directory = folder.path() + "/data", .sync_to_disk = false}).value()) {
        hub->create("homes", {.partitions = 1}).value();
        options.hub_here = hub.get();
        options.event_hub = "homes";
        options.own_store = store;
        options.profile = Profile::fast;
        options.on_error = [](const Failure&) {};
    }
    ~LocalWorld() { store->hold(false); }
    BatchHandler handler() {
        return batch_handler([this](Partition& partition, const Event& event) {
            history.add(partition.id(), event.sequence_number);
        });
    }

    TemporaryDirectory folder;
    std::unique_ptr<Hub> hub;
    std::shared_ptr<HeldStore> store = std::make_shared<HeldStore>();
    ProcessorOptions options;
    History history;
};

TEST(ProcessorCallOptions, opening_at_a_silent_hub_ends_at_a_deadline_or_a_stop) {
    HubProcess hub;
    ASSERT_TRUE(hub.create("homes", 1).ok());
    FaultyProxy proxy(hub.port());
    proxy.hold(true);
    ProcessorOptions options;
    options.hub =
        "amqp://" + key_name + ":" + key + "@127.0.0.1:" + std::to_string(proxy.port()) + "/homes";
    options.store = "memory:opening_at_a_silent_hub";
    std::stop_source stop;
    Promise<bool> begun;
    Promise<ErrorCode> ended;
    std::thread opens([&] {
        begun.set(true);
        ended.set(Processor::open(options, {.stop = stop.get_token()}).error().code);
    });

    EXPECT_EQ(Processor::open(options, {.timeout = 20ms}).error().code, ErrorCode::timed_out);
    begun.wait();
    stop.request_stop();

    EXPECT_EQ(ended.wait(), ErrorCode::cancelled);
    opens.join();
    proxy.hold(false);
    EXPECT_TRUE(Processor::open(options).ok());
}

TEST(ProcessorCallOptions, a_start_at_a_silent_store_ends_at_its_deadline) {
    LocalWorld world;
    auto processor = Processor::open(world.options).value();
    world.store->hold(true);

    EXPECT_EQ(processor->start(world.handler(), {.timeout = 20ms}).error().code,
              ErrorCode::timed_out);

    world.store->hold(false);
    EXPECT_TRUE(processor->stop().is_clean) << "it may have started: stop() ends it";
}

TEST(ProcessorCallOptions, a_stop_before_the_call_begins_nothing) {
    LocalWorld world;
    std::stop_source stop;
    stop.request_stop();
    const CallOptions stopped{.stop = stop.get_token()};

    EXPECT_EQ(Processor::open(world.options, stopped).error().code, ErrorCode::cancelled);
    auto processor = Processor::open(world.options).value();
    EXPECT_EQ(processor->start(world.handler(), stopped).error().code, ErrorCode::cancelled);

    EXPECT_TRUE(processor->start(world.handler()).ok()) << "it was not started before";
    world.hub->send("homes", "event").value();
    world.history.wait_for(1);
    EXPECT_TRUE(processor->stop().is_clean);
}

TEST(ProcessorCallOptions, it_runs_on_after_a_wait_that_was_given_up) {
    LocalWorld world;
    auto processor = Processor::open(world.options).value();
    ASSERT_TRUE(processor->start(world.handler()).ok());
    std::stop_source stop;
    Promise<ErrorCode> ended;
    std::thread waits([&] { ended.set(processor->wait({.stop = stop.get_token()}).error().code); });

    EXPECT_EQ(processor->wait({.timeout = 10ms}).error().code, ErrorCode::timed_out);
    stop.request_stop();

    EXPECT_EQ(ended.wait(), ErrorCode::cancelled);
    waits.join();
    EXPECT_FALSE(processor->has_ended());
    world.hub->send("homes", "event").value();
    world.history.wait_for(1);
    EXPECT_TRUE(processor->stop().is_clean);
    EXPECT_TRUE(processor->wait({.timeout = 0ms}).ok()) << "its end needs no time";
}

TEST(ProcessorCallOptions, a_flush_at_a_silent_store_ends_at_its_deadline) {
    LocalWorld world;
    auto processor = Processor::open(world.options).value();
    Promise<ErrorCode> given_up;
    ASSERT_TRUE(processor
                    ->start(BatchHandler([&](Partition& partition, Events events) -> Result<> {
                        partition.done(events.back());
                        world.store->hold(true);
                        const auto flushed = partition.flush({.timeout = 20ms});
                        world.store->hold(false);
                        given_up.set(flushed.ok() ? ErrorCode::corrupt : flushed.error().code);
                        return {};
                    }))
                    .ok());

    world.hub->send("homes", "event").value();

    EXPECT_EQ(given_up.wait(), ErrorCode::timed_out);
    EXPECT_TRUE(processor->stop().is_clean);
}

TEST(ProcessorCallOptions, a_stop_ends_run_and_stores_progress) {
    LocalWorld world;
    world.hub->send("homes", "event").value();
    const auto processor = Processor::open(world.options);
    std::stop_source stop;
    std::thread stops([&] {
        world.history.wait_for(1);
        stop.request_stop();
    });

    EXPECT_EQ(run(processor, shared_handler(world.handler()), stop.get_token()), 0);

    stops.join();
    const auto again = Processor::open(world.options).value();
    ASSERT_TRUE(again->start(world.handler()).ok());
    world.hub->send("homes", "next").value();
    world.history.wait_for(2);
    EXPECT_EQ(world.history.handled()[0], (std::vector<std::int64_t>{0, 1}));
    EXPECT_TRUE(again->stop().is_clean);
}

TEST(ProcessorCallOptions, a_stop_ends_run_while_it_starts_at_a_silent_store) {
    LocalWorld world;
    auto processor = Processor::open(world.options).value();
    world.store->hold(true);
    std::stop_source stop;
    Promise<int> ended;
    std::thread runs(
        [&] { ended.set(run(*processor, shared_handler(world.handler()), stop.get_token())); });

    stop.request_stop();

    EXPECT_EQ(ended.wait(), 0);
    runs.join();
    EXPECT_TRUE(world.history.handled().empty());
}

}  // namespace
}  // namespace evenkeel::test
