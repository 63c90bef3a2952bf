#include "host/handler/workers.h"

#include <atomic>
#include <memory>

#include <gtest/gtest.h>

#include "base/promise.h"
#include "host/handler/invocation_fixture.h"
#include "io/system/worker_pool.h"

namespace evenkeel::host {
namespace {

// A process that ends when a test says so.
struct FakeWorker {
    int number = 0;
    bool is_gone = false;
    bool was_asked = false;
    bool has_ended() const { return is_gone; }
    bool was_asked_to_end() const { return was_asked; }
    void end() { is_gone = true; }
};

Error crash(FakeWorker& worker, bool was_asked = false) {
    worker.is_gone = true;
    worker.was_asked = was_asked;
    return {ErrorCode::handler_failed, "it ended"};
}

class WorkersTest : public testing::Test {
protected:
    using Ask = std::function<Result<int>(FakeWorker&)>;  // the number of the process answers

    Result<int> call(const Ask& ask, std::uint32_t partition = 0) {
        const GivenEvents given(a_function(Cardinality::many), {{.body = "x"}},
                                {.first_sequence_number = 7});
        auto invocation = given.invocation();
        invocation.partition = partition;
        while (true) {  // a process that ended is started again after a pause
            bool was_asked = false;
            auto answer = workers_.call<int>(invocation, [&](FakeWorker& worker) {
                was_asked = true;
                return ask(worker);
            });
            if (was_asked) return answer;
        }
    }
    static Result<int> answer(FakeWorker& worker) { return worker.number; }

    int started_ = 0;
    Workers<FakeWorker> workers_{"fake", [this]() -> Result<std::shared_ptr<FakeWorker>> {
                                     auto worker = std::make_shared<FakeWorker>();
                                     worker->number = ++started_;
                                     return worker;
                                 }};
};

TEST_F(WorkersTest, only_who_crashes_alone_is_to_blame) {
    const auto crashes = [](FakeWorker& worker) -> Result<int> { return crash(worker); };

    // Partition 1 is executed by the same process, and is held by it when it ends.
    Result<int> neighbour = 0;
    const auto poison = call([&](FakeWorker& shared) -> Result<int> {
        neighbour = call([&](FakeWorker&) -> Result<int> { return crash(shared); }, 1);
        return crash(shared);
    });
    EXPECT_EQ(poison.error().code, ErrorCode::unavailable);
    EXPECT_EQ(neighbour.error().code, ErrorCode::unavailable);

    EXPECT_EQ(call(crashes).error().code, ErrorCode::handler_failed);
    EXPECT_TRUE(call(answer, 1).ok());
    EXPECT_EQ(call(crashes).error().code, ErrorCode::handler_failed) << "alone until it passes";
}

TEST_F(WorkersTest, others_go_on_beside_a_process_for_suspects) {
    const auto crashes = [](FakeWorker& worker) -> Result<int> { return crash(worker); };
    static_cast<void>(call(crashes));  // process 1
    const auto other = call(answer, 1);

    static_cast<void>(call(crashes));  // process 3

    EXPECT_EQ(other.value(), 2);
    EXPECT_EQ(call(answer, 1).value(), 2);
    EXPECT_EQ(call(answer).value(), 4) << "the suspect passes";
    EXPECT_EQ(call(answer).value(), 2) << "and runs with the others again";
}

TEST_F(WorkersTest, a_signal_from_outside_is_excused_once) {
    const auto asked = [](FakeWorker& worker) -> Result<int> { return crash(worker, true); };

    EXPECT_EQ(call(asked).error().code, ErrorCode::unavailable);
    EXPECT_EQ(call(asked).error().code, ErrorCode::unavailable);
    EXPECT_EQ(call(asked).error().code, ErrorCode::handler_failed);
}

TEST_F(WorkersTest, that_are_ended_start_no_other_process) {
    FakeWorker* shared = nullptr;
    static_cast<void>(call([&](FakeWorker& worker) -> Result<int> {
        shared = &worker;
        workers_.end();
        EXPECT_TRUE(worker.has_ended());
        return 0;
    }));

    EXPECT_EQ(workers_.begin().error().code, ErrorCode::unavailable);
    EXPECT_NE(shared, nullptr);
    EXPECT_EQ(started_, 1);
}

TEST_F(WorkersTest, a_failure_of_a_running_process_is_that_of_the_execution) {
    const auto result = call([](FakeWorker&) -> Result<int> {
        return Error{ErrorCode::handler_failed, "boom"};
    });

    EXPECT_EQ(result.error().code, ErrorCode::handler_failed);
}

TEST(Workers, begin_waits_while_another_thread_starts_the_process) {
    Promise<bool> starts, may_be_ready;
    std::atomic<int> started = 0;
    Workers<FakeWorker> workers("fake", [&]() -> Result<std::shared_ptr<FakeWorker>> {
        ++started;
        starts.set(true);
        may_be_ready.copy();
        return std::make_shared<FakeWorker>();
    });
    io::system::WorkerPool others("others", 2);
    Result<> first, second;

    others.post([&] { first = workers.begin(); });
    starts.copy();
    others.post([&] { second = workers.begin(); });
    may_be_ready.set(true);
    others.finish();

    EXPECT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(started, 1);
}

TEST(Workers, begin_says_why_the_process_does_not_start) {
    Workers<FakeWorker> workers("fake", []() -> Result<std::shared_ptr<FakeWorker>> {
        return Error{ErrorCode::not_found, "no such program"};
    });

    const auto first = workers.begin(), next = workers.begin();

    for (const auto& each : {first, next}) {
        EXPECT_EQ(each.error().code, ErrorCode::unavailable);
        EXPECT_EQ(each.error().detail, "fake cannot be started: no such program");
    }
}

}  // namespace
}  // namespace evenkeel::host
