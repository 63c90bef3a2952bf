#include "host/function_run.h"

#include <gtest/gtest.h>

#include "host/handler/invocation_fixture.h"

namespace evenkeel::host {
namespace {

class FakePartition final : public Partition {
public:
    std::uint32_t id() const override { return 3; }
    std::int64_t epoch() const override { return 1; }
    void done(const Event& event) override { done_up_to = event.sequence_number; }
    void checkpoint(const Event&) override {}
    Result<> flush(const CallOptions&) override { return {}; }
    bool is_ending() const override { return closing_as.has_value(); }
    std::optional<Closed> closing() const override { return closing_as; }
    std::uint32_t attempt() const override { return 0; }
    void pause() override {}
    void resume() override {}
    void seek(const Position&) override {}

    std::int64_t done_up_to = -1;
    std::optional<Closed> closing_as;
};

// A function in C++: what it was called with, and what it answers.
class FunctionOfTest final : public Handler {
public:
    using Answer = std::function<Result<Outcome>(const Invocation&)>;
    explicit FunctionOfTest(Answer answer) : answer_(std::move(answer)) {}
    Result<Outcome> invoke(const Invocation& invocation) override {
        calls.emplace_back(invocation.events.size(), invocation.attempt);
        return answer_(invocation);
    }
    std::vector<std::pair<std::size_t, std::uint32_t>> calls;  // events, attempt

private:
    Answer answer_;
};

Error boom() {
    return {ErrorCode::handler_failed, "boom"};
}

struct World {
    explicit World(FunctionOfTest::Answer answer, Cardinality cardinality = Cardinality::many)
        : function(a_function(cardinality)), handler(std::move(answer)) {}

    FunctionRun a_run() {
        return FunctionRun(FunctionPlace{.function = function,
                                         .rule = rule,
                                         .host_name = "localhost",
                                         .handler = handler,
                                         .outputs = outputs,
                                         .counts = counts});
    }
    Result<> run(FunctionRun& by, std::size_t events) {
        const std::vector<EventData> data(events, EventData{.body = "1"});
        const auto batch = EventBatch::of(data);
        return by.on_events(partition, batch.events());
    }
    Result<> run(std::size_t events) {
        FunctionRun by = a_run();
        return run(by, events);
    }

    Function function;
    CheckpointRule rule = CheckpointRule::on_success;
    FunctionOfTest handler;
    FakePartition partition;
    std::vector<BoundOutput> sent;
    SendOutputs outputs = [this](const Function&, Outcome& outcome) -> Result<> {
        sent.insert(sent.end(), outcome.outputs.begin(), outcome.outputs.end());
        return {};
    };
    Counts counts;
};
using Calls = std::vector<std::pair<std::size_t, std::uint32_t>>;

TEST(FunctionRun, gets_a_batch_or_one_event_after_another) {
    World many([](const Invocation&) { return Outcome{}; });
    World one([](const Invocation&) { return Outcome{}; }, Cardinality::one);

    EXPECT_TRUE(many.run(3).ok());
    EXPECT_TRUE(one.run(3).ok());

    EXPECT_EQ(many.handler.calls, (Calls{{3, 0}}));
    EXPECT_EQ(one.handler.calls, (Calls{{1, 0}, {1, 0}, {1, 0}}));
    EXPECT_EQ(one.partition.done_up_to, 2);
}

TEST(FunctionRun, retries_the_whole_batch_as_its_policy_says) {
    World world([](const Invocation& invocation) -> Result<Outcome> {
        if (invocation.attempt < 2) return boom();
        return Outcome{};
    });
    world.function.retry = RetryRule{.retries_max = 3};

    EXPECT_TRUE(world.run(5).ok());

    EXPECT_EQ(world.handler.calls, (Calls{{5, 0}, {5, 1}, {5, 2}}));
    EXPECT_EQ(world.counts.failures, 2u);
}

TEST(FunctionRun, fails_for_the_processor_after_the_last_retry) {
    World world([](const Invocation&) -> Result<Outcome> { return boom(); });
    world.function.retry = RetryRule{.retries_max = 2};

    const auto result = world.run(1);

    EXPECT_EQ(world.handler.calls.size(), 3u);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::handler_failed);
}

TEST(FunctionRun, advances_over_failures_with_the_rule_of_functions) {
    World world([](const Invocation&) -> Result<Outcome> { return boom(); }, Cardinality::one);
    world.rule = CheckpointRule::functions;

    EXPECT_TRUE(world.run(3).ok());

    EXPECT_EQ(world.handler.calls.size(), 3u);
    EXPECT_EQ(world.partition.done_up_to, 2);
}

TEST(FunctionRun, waits_while_nothing_runs_the_function) {
    World world([](const Invocation&) -> Result<Outcome> {
        return Error{ErrorCode::unavailable, "starting"};
    });
    world.rule = CheckpointRule::functions;
    world.function.retry = RetryRule{.retries_max = 2};

    const auto result = world.run(1);

    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::unavailable);
    EXPECT_EQ(world.handler.calls.size(), 1u);
}

TEST(FunctionRun, goes_on_counting_retries_after_an_outage) {
    World world([&, calls = 0](const Invocation&) mutable -> Result<Outcome> {
        if (++calls == 2) return Error{ErrorCode::unavailable, "is started again"};
        return boom();
    });
    world.function.retry = RetryRule{.retries_max = 2};
    FunctionRun run = world.a_run();

    EXPECT_EQ(world.run(run, 1).error().code, ErrorCode::unavailable);
    EXPECT_EQ(world.run(run, 1).error().code, ErrorCode::handler_failed);

    EXPECT_EQ(world.handler.calls, (Calls{{1, 0}, {1, 1}, {1, 1}, {1, 2}}));
}

TEST(FunctionRun, stops_retrying_when_its_partition_moves) {
    World world([](const Invocation&) -> Result<Outcome> { return boom(); });
    world.function.retry = RetryRule{.retries_max = std::nullopt, .delay = std::chrono::hours(1)};
    world.partition.closing_as = Closed::handed_over;

    const auto result = world.run(1);

    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::cancelled);
}

TEST(FunctionRun, repeats_only_what_was_not_acknowledged) {
    World world([](const Invocation& invocation) -> Result<Outcome> {
        if (invocation.attempt > 0) return Outcome{};
        invocation.done(invocation.events[1]);
        return boom();
    });
    world.function.retry = RetryRule{.retries_max = 1};

    EXPECT_TRUE(world.run(5).ok());

    EXPECT_EQ(world.handler.calls, (Calls{{5, 0}, {3, 1}}));
    EXPECT_EQ(world.partition.done_up_to, 1);
}

TEST(FunctionRun, sends_outputs_and_fails_if_they_are_wrong) {
    World world([](const Invocation&) { return Outcome{.outputs = {{"alerts", {"x"}}}}; });

    EXPECT_TRUE(world.run(1).ok());
    EXPECT_EQ(world.sent, (std::vector<BoundOutput>{{"alerts", {"x"}}}));
    world.outputs = [](const Function&, Outcome&) -> Result<> {
        return Error{ErrorCode::handler_failed, "too large"};
    };
    EXPECT_FALSE(world.run(1).ok());
}

TEST(FunctionRun, repeats_only_the_outputs_that_were_not_sent) {
    World world([](const Invocation&) {
        return Outcome{.outputs = {{"alerts", {"x"}}, {"more", {"y"}}}};
    });
    std::size_t tries = 0;
    world.outputs = [&](const Function&, Outcome& outcome) -> Result<> {
        ++tries;
        if (tries == 1) outcome.outputs.erase(outcome.outputs.begin());  // the first was sent
        if (tries < 3) return Error{ErrorCode::unavailable, "no hub"};
        world.sent = outcome.outputs;
        return {};
    };

    EXPECT_TRUE(world.run(1).ok());

    EXPECT_EQ(world.handler.calls.size(), 1u) << "one execution";
    EXPECT_EQ(tries, 3u);
    EXPECT_EQ(world.sent, (std::vector<BoundOutput>{{"more", {"y"}}}));
    EXPECT_EQ(world.counts.failures, 0u);
}

TEST(FunctionRun, gives_up_outputs_when_its_partition_moves) {
    World world([](const Invocation&) { return Outcome{.outputs = {{"alerts", {"x"}}}}; });
    world.outputs = [](const Function&, Outcome&) -> Result<> {
        return Error{ErrorCode::unavailable, "no hub"};
    };
    world.partition.closing_as = Closed::handed_over;

    const auto result = world.run(1);

    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::cancelled);
}

TEST(FunctionRun, counts_only_executions_that_began) {
    World world([calls = 0](const Invocation& invocation) mutable -> Result<Outcome> {
        invocation.not_json(2);
        if (++calls < 3) return Error{ErrorCode::unavailable, "starting"};
        return Outcome{};
    });

    EXPECT_FALSE(world.run(3).ok());
    EXPECT_FALSE(world.run(3).ok());
    EXPECT_TRUE(world.run(3).ok());

    EXPECT_EQ(world.counts.executions, 1u);
    EXPECT_EQ(world.counts.failures, 0u);
    EXPECT_EQ(world.counts.not_json, 2u);
}

}  // namespace
}  // namespace evenkeel::host
