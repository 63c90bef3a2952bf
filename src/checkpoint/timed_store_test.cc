#include "checkpoint/timed_store.h"

#include <chrono>
#include <optional>

#include <gtest/gtest.h>

#include "checkpoint/faulty_store.h"
#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

struct TimedStoreWorld : testing::Test {
    io::sim::Scheduler world{test::test_seed()};
    MemoryServer server{world.clock()};
    io::sim::SimLoop server_loop{world, "store"};
    io::sim::SimLoop loop{world, "a"};
    Faults faults;
    const GroupName group{"localhost", "homes", "$Default"};
    FaultyStore far{loop, server_loop, std::make_shared<MemoryStore>(server_loop, server, group),
                    faults, world.fork_random()};
    std::optional<TimedStore> store{std::in_place, loop, far, 10s};
    int answers = 0;
    std::optional<Result<std::string>> answer;
    void write() {
        store->write_member({.id = "me", .incarnation = "1"}, [this](auto result) {
            ++answers;
            answer = result;
        });
    }
};

TEST_F(TimedStoreWorld, passes_an_answer_on_and_nothing_after_it) {
    write();
    world.run_for(60s);

    EXPECT_EQ(answers, 1);
    EXPECT_TRUE(answer->ok());
}

TEST_F(TimedStoreWorld, answers_for_a_store_that_hangs_though_it_was_applied) {
    faults.silent_per_thousand = 1000;
    write();
    world.run_for(9900ms);
    EXPECT_EQ(answers, 0);
    world.run_for(200ms);

    ASSERT_EQ(answers, 1);
    EXPECT_EQ(answer->error().code, ErrorCode::timed_out);
    EXPECT_EQ(server.snapshot(group).members({world.now(), {}}).size(), 1u);
}

TEST_F(TimedStoreWorld, drops_an_answer_that_comes_too_late) {
    faults.write_half = 20s;
    write();
    world.run_for(120s);

    EXPECT_EQ(answers, 1);
    EXPECT_FALSE(answer->ok());
}

TEST_F(TimedStoreWorld, is_silent_once_it_is_gone) {
    faults.silent_per_thousand = 1000;
    write();
    store.reset();
    world.run_for(60s);

    EXPECT_EQ(answers, 0);
}

}  // namespace
}  // namespace evenkeel::checkpoint
