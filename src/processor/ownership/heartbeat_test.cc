#include "processor/ownership/heartbeat.h"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "checkpoint/faulty_store.h"
#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::processor {
namespace {

using namespace std::chrono_literals;
using checkpoint::MemoryStore;

class HeartbeatTest : public testing::TestWithParam<Timing> {
protected:
    void SetUp() override {
        heartbeat_.start({.id = "a", .incarnation = "1"}, [](const Result<>&) {});
        scheduler_.run_for(20 * timing_.heartbeat);
        ASSERT_TRUE(is_leased());
        requests_before_ = heartbeat_.requests();
    }
    bool is_leased() const { return heartbeat_.lease().is_valid(scheduler_.now()); }
    std::uint64_t requests() const { return heartbeat_.requests() - requests_before_; }

    const Timing timing_ = GetParam();
    io::sim::Scheduler scheduler_{test::test_seed()};
    checkpoint::MemoryServer server_{scheduler_.clock()};
    io::sim::SimLoop server_loop_{scheduler_, "store"};
    io::sim::SimLoop loop_{scheduler_, "a"};
    checkpoint::Faults faults_;
    checkpoint::FaultyStore store_{
        loop_, server_loop_,
        std::make_shared<MemoryStore>(server_loop_, server_,
                                      checkpoint::GroupName{"n", "hub", "group"}),
        faults_, scheduler_.fork_random()};
    int lapses_ = 0;
    int failures_ = 0;
    int doubts_ = 0;
    Heartbeat heartbeat_{loop_,
                         store_,
                         timing_,
                         scheduler_.fork_random(),
                         {.on_lapsed = [this] { ++lapses_; },
                          .on_gained = [] {},
                          .on_taken = [](const Error&) { ADD_FAILURE() << "nobody took it"; },
                          .on_failure = [this](const Error&, Duration) { ++failures_; },
                          .on_doubt = [this] { ++doubts_; },
                          .on_answer = [](Duration) {}}};
    std::uint64_t requests_before_ = 0;
};

TEST_P(HeartbeatTest, one_answer_that_never_comes_does_not_cost_the_lease) {
    faults_.silent_per_thousand = 1000;
    ASSERT_TRUE(scheduler_.run_until([&] { return requests() > 0; }, 2 * timing_.heartbeat));
    faults_.silent_per_thousand = 0;

    scheduler_.run_for(10 * timing_.heartbeat);

    EXPECT_EQ(lapses_, 0);
    EXPECT_EQ(failures_, 1) << "it is reported";
    EXPECT_TRUE(is_leased());
}

// Two in a row within a lease.
TEST_P(HeartbeatTest, a_store_that_becomes_slow_does_not_cost_the_lease) {
    faults_.slow_per_thousand = 0;
    faults_.spread_percent = 0;
    faults_.write_half = (timing_.lease / 2 - 100ms) / 2;
    faults_.list_half = faults_.write_half;

    scheduler_.run_for(60 * timing_.heartbeat);

    EXPECT_EQ(lapses_, 0);
    EXPECT_TRUE(is_leased());
}

TEST_P(HeartbeatTest, a_store_that_never_answers_is_asked_seldom_and_found_again) {
    faults_.silent_per_thousand = 1000;
    scheduler_.run_for(60s);
    EXPECT_FALSE(is_leased());
    EXPECT_LE(requests(), static_cast<std::uint64_t>(60s / timing_.request_max + 5));

    faults_.silent_per_thousand = 0;
    scheduler_.run_for(timing_.request_max + 1s);

    EXPECT_TRUE(is_leased());
}

TEST_P(HeartbeatTest, an_entry_that_is_gone_is_told_and_written_again) {
    EXPECT_EQ(doubts_, 0);
    server_.restore({"n", "hub", "group"}, {});

    scheduler_.run_for(2 * timing_.heartbeat);

    EXPECT_EQ(doubts_, 1);
    EXPECT_EQ(server_.snapshot({"n", "hub", "group"}).members({scheduler_.now(), {}}).size(), 1U);
    EXPECT_TRUE(is_leased());
}

// A loop whose process can stand still in the middle of a task.
class StallingLoop final : public io::Loop, private Clock {
public:
    explicit StallingLoop(io::sim::SimLoop& loop) : loop_(loop) {}
    void stall(Duration duration) { stalled_ = stalled_ + duration; }

    const Clock& clock() const override { return *this; }
    io::TimerId run_at(Instant when, Task task) override {
        return loop_.run_at(when - stalled_, std::move(task));
    }
    void cancel(io::TimerId timer) override { loop_.cancel(timer); }
    bool is_here() const override { return loop_.is_here(); }
    void post(Task task) override { loop_.post(std::move(task)); }

private:
    Instant now() const override { return loop_.clock().now() + stalled_; }
    WallTime wall() const override { return loop_.clock().wall(); }

    io::sim::SimLoop& loop_;
    Duration stalled_{};
};

TEST(Heartbeat, notices_a_lease_that_ends_in_the_middle_of_a_step) {
    const Timing timing = standard_timing();
    io::sim::Scheduler scheduler(test::test_seed());
    checkpoint::MemoryServer server(scheduler.clock());
    io::sim::SimLoop sim_loop(scheduler, "a");
    StallingLoop loop(sim_loop);
    MemoryStore store(sim_loop, server, checkpoint::GroupName{"n", "hub", "group"});
    int lapses = 0, gains = 0;
    bool stalls = false;
    Heartbeat heartbeat(loop, store, timing, scheduler.fork_random(),
                        {.on_lapsed = [&] { ++lapses; },
                         .on_gained = [&] { ++gains; },
                         .on_taken = [](const Error&) { ADD_FAILURE() << "nobody took it"; },
                         .on_failure = [](const Error&, Duration) {},
                         .on_doubt = [] {},
                         .on_answer =
                             [&](Duration) {
                                 if (std::exchange(stalls, false)) loop.stall(2 * timing.lease);
                             }});
    heartbeat.start({.id = "a", .incarnation = "1"}, [](const Result<>&) {});
    scheduler.run_for(5 * timing.heartbeat);
    ASSERT_EQ(gains, 1);

    stalls = true;
    scheduler.run_for(3 * timing.heartbeat);

    EXPECT_EQ(lapses, 1);
    EXPECT_EQ(gains, 2) << "the next answer is good again";
}

INSTANTIATE_TEST_SUITE_P(Profiles, HeartbeatTest, testing::Values(standard_timing(), fast_timing()),
                         [](const auto& each) { return each.index == 0 ? "standard" : "fast"; });

}  // namespace
}  // namespace evenkeel::processor
