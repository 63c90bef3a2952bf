// Test doubles as users write them: each public interface can be implemented without the library.
#include <gtest/gtest.h>

#include <evenkeel/buffered_producer.h>
#include <evenkeel/consumer.h>
#include <evenkeel/duplicate_filter.h>
#include <evenkeel/processor.h>
#include <evenkeel/producer.h>

namespace evenkeel {
namespace {

class FakePartition final : public Partition {
public:
    std::uint32_t id() const override { return 3; }
    std::int64_t epoch() const override { return 1; }
    void done(const Event& event) override { done_to = event.sequence_number; }
    void checkpoint(const Event& event) override { checkpoint_at = event.sequence_number; }
    Result<> flush(const CallOptions&) override { return {}; }
    bool is_ending() const override { return false; }
    std::optional<Closed> closing() const override { return std::nullopt; }
    std::uint32_t attempt() const override { return 0; }
    void pause() override {}
    void resume() override {}
    void seek(const Position&) override {}

    std::int64_t done_to = -1;
    std::int64_t checkpoint_at = -1;
};

class FakeProcessor final : public Processor {
public:
    explicit FakeProcessor(Result<> how_it_ends = {}) : end_(std::move(how_it_ends)) {}
    using Processor::start;
    Result<> start(HandlerFactory handlers, const CallOptions&) override {
        handler_ = handlers(3);
        return handler_->on_events(partition, EventBatch::of({{.body = "a"}}).events());
    }
    StopReport stop() override { return {.is_clean = true}; }
    Result<> wait(const CallOptions&) override { return end_; }
    bool has_ended() override { return true; }
    ProcessorStatus status() override { return {}; }
    std::string metrics() override { return {}; }
    std::string explain() override { return {}; }
    const ProcessorOptions& options() const override { return options_; }

    FakePartition partition;

private:
    const Result<> end_;
    std::unique_ptr<PartitionHandler> handler_;
    ProcessorOptions options_;
};

class FakeProducer final : public Producer {
public:
    using Producer::send;
    Result<EventHubProperties> properties(const CallOptions&) override {
        return EventHubProperties{.name = "homes"};
    }
    Result<SendBatch> make_batch(Route route) const override { return SendBatch(route, 1000); }
    Result<> send(const SendBatch& batch, const CallOptions&) override {
        for (const Event& event : batch.events()) sent.emplace_back(event.text());
        keys.emplace_back(batch.route().partition_key);
        return {};
    }
    Result<SendReceipt> send_with_receipt(const SendBatch& batch,
                                          const CallOptions& call) override {
        const Result<> stored = send(batch, call);
        if (!stored.ok()) return stored.error();
        return SendReceipt{.partition = 1};
    }
    void send_later(const SendBatch& batch, std::function<void(Result<>)> done) override {
        done(send(batch, {}));
    }
    std::vector<std::string> sent, keys;
};

class FakeBuffer final : public BufferedProducer {
public:
    Result<> enqueue(const EventData& event, Route, const CallOptions&) override {
        sent.emplace_back(event.body);
        return {};
    }
    Result<> try_enqueue(const EventData&, Route) override {
        return Error{ErrorCode::overloaded, "always"};
    }
    Result<> flush(const CallOptions&) override { return {}; }
    std::vector<std::string> sent;
};

class FakeReader final : public RemoteReader {
public:
    Result<EventBatch> read(std::size_t, std::chrono::milliseconds,
                            const std::stop_token&) override {
        return EventBatch::of({{.body = "a", .content_type = "text/plain"}});
    }
    void close() override {}
    std::optional<LastEnqueued> last_enqueued() override { return std::nullopt; }
};

TEST(TestDoubles, handlers_run_with_made_events_and_a_fake_partition) {
    FakePartition partition;
    std::vector<std::string> seen;
    const BatchHandler handler = batch_handler([&](Partition&, const Event& event) -> Result<> {
        if (event.properties()["bad"].integer() == 1) {
            return Error{ErrorCode::handler_failed, "a bad one"};
        }
        seen.emplace_back(event.text());
        return {};
    });
    const Property bad{"bad", 1};

    const Result<> result =
        handler(partition,
                EventBatch::of({{.body = "a"}, {.body = "b", .properties = {&bad, 1}}}).events());

    EXPECT_EQ(result.error().code, ErrorCode::handler_failed);
    EXPECT_EQ(seen, std::vector<std::string>{"a"});
    EXPECT_EQ(partition.done_to, 0) << "the first one is not repeated";
    EXPECT_EQ(partition.checkpoint_at, -1);
}

TEST(TestDoubles, a_fake_processor_can_be_run) {
    FakeProcessor good;
    int calls = 0;
    const auto count = [&](Partition&, Events) { ++calls; };

    EXPECT_EQ(run(good, count), 0);
    EXPECT_EQ(calls, 1);

    FakeProcessor bad(Error{ErrorCode::conflict, "its id was taken"});
    Result<std::unique_ptr<Processor>> unopened(Error{ErrorCode::invalid_argument, "no hub"});
    EXPECT_EQ(run(bad, count), 1);
    EXPECT_EQ(run(unopened, count), 2);
    EXPECT_EQ(run(Result<std::unique_ptr<Processor>>(std::make_unique<FakeProcessor>()), count), 0);
}

TEST(TestDoubles, a_fake_producer_shows_what_was_sent) {
    FakeProducer producer;
    Producer& used = producer;

    EXPECT_TRUE(used.send("one", {.partition_key = "k"}).ok());
    EXPECT_TRUE(used.send({.body = "two", .subject = "s"}).ok());
    EXPECT_EQ(used.send(std::string(2000, 'x')).error().code, ErrorCode::invalid_argument);

    EXPECT_EQ(producer.sent, (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(producer.keys, (std::vector<std::string>{"k", ""}));
}

TEST(TestDoubles, buffers_and_readers_can_be_faked) {
    FakeBuffer buffer;
    FakeReader fake;
    Reader& reader = fake;

    BufferedProducer& used = buffer;
    EXPECT_TRUE(used.enqueue({.body = "x"}).ok());
    EXPECT_TRUE(used.flush().ok());
    EXPECT_EQ(buffer.sent, std::vector<std::string>{"x"});
    EXPECT_EQ(reader.read(1, std::chrono::seconds(1)).value()[0].content_type(), "text/plain");
}

TEST(TestDoubles, a_fake_hub_is_refused_as_the_hub_of_a_processor) {
    class FakeHub final : public Hub {
    public:
        Result<> create(std::string_view, EventHubOptions, const CallOptions&) override {
            return {};
        }
        Result<> alter(std::string_view, EventHubChange, const CallOptions&) override { return {}; }
        Result<> remove(std::string_view, const CallOptions&) override { return {}; }
        Result<> purge(std::string_view, std::uint32_t, std::int64_t, const CallOptions&) override {
            return {};
        }
        Result<> create_group(std::string_view, std::string_view, const CallOptions&) override {
            return {};
        }
        Result<> remove_group(std::string_view, std::string_view, const CallOptions&) override {
            return {};
        }
        std::vector<EventHubInfo> list() override { return {}; }
        Result<EventHubInfo> describe(std::string_view) override { return EventHubInfo{}; }
        Result<PartitionInfo> describe(std::string_view, std::uint32_t) override {
            return PartitionInfo{};
        }
        Result<Receipt> send(std::string_view, std::span<const std::string_view>, Route,
                             const CallOptions&) override {
            return Receipt{};
        }
        void send_later(std::string_view, std::span<const std::string_view>, Route,
                        std::function<void(Result<Receipt>)>) override {}
        Result<std::unique_ptr<Reader>> open_reader(std::string_view, std::string_view,
                                                    std::uint32_t, Position,
                                                    ReaderOptions) override {
            return std::unique_ptr<Reader>(std::make_unique<FakeReader>());
        }
        std::string metrics() const override { return {}; }
    };
    FakeHub hub;

    const auto opened =
        Processor::open({.event_hub = "homes", .hub_here = &hub, .store = "memory:"});

    EXPECT_EQ(opened.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace evenkeel
