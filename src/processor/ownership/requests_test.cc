#include "processor/ownership/requests.h"

#include <chrono>

#include <gtest/gtest.h>

#include "checkpoint/faulty_store.h"
#include "checkpoint/memory/store.h"
#include "io/sim/scheduler.h"
#include "support/golden.h"
#include "support/seed.h"

namespace evenkeel::processor {
namespace {

TEST(Requests, name_partitions_or_all) {
    const Paused some{.partitions = {0, 3, 4'294'967'295}}, all{.all = true}, none;
    for (const Paused& each : {some, all, none}) EXPECT_EQ(decode_paused(encode(each)), each);
    EXPECT_TRUE(all.contains({7}));
    EXPECT_TRUE(some.contains({3}));
    EXPECT_FALSE(some.contains({4}));
    EXPECT_TRUE(none.empty());
}

TEST(Requests, to_pause_and_to_drain_are_the_golden_texts) {
    auto golden = test::golden_texts("records_v1");
    const Paused some{.partitions = {0, 3, 7}}, all{.all = true};

    EXPECT_EQ(encode(all), golden["pause of all"]);
    EXPECT_EQ(decode_paused(golden["pause of all"]), all);
    EXPECT_EQ(encode(some), golden["pause of some"]);
    EXPECT_EQ(decode_paused(golden["pause of some"]), some);
    EXPECT_TRUE(read_requests({{"request/drain/run-7", golden["drain"], "1"}}, "run-7").drain);
}

TEST(Requests, that_cannot_be_read_pause_nothing) {
    for (const char* text : {"some", "1,x", "1,,2", "-1", "99999999999"}) {
        EXPECT_TRUE(decode_paused(text).empty()) << text;
    }
}

TEST(Requests, to_drain_are_for_one_incarnation) {
    const std::vector<checkpoint::Record> records = {{drain_key("aa"), "now", "1"},
                                                     {std::string(pause_key), "2", "2"}};

    EXPECT_EQ(read_requests(records, "aa").drain->version, "1");
    EXPECT_FALSE(read_requests(records, "ab").drain);
    EXPECT_TRUE(read_requests(records, "ab").paused.contains({2}));
}

TEST(Requests, are_looked_for_until_the_end_and_through_an_outage) {
    using namespace std::chrono_literals;
    io::sim::Scheduler scheduler{test::test_seed()};
    checkpoint::MemoryServer server{scheduler.clock()};
    io::sim::SimLoop loop{scheduler, "me"}, server_loop{scheduler, "store"};
    const checkpoint::GroupName group{"a", "b", "c"};
    checkpoint::Faults faults;
    checkpoint::FaultyStore store{
        loop, server_loop, std::make_shared<checkpoint::MemoryStore>(server_loop, server, group),
        faults, scheduler.fork_random()};
    int seen = 0, failed = 0;
    RequestWatch watch(
        loop, store, "aa", 4s,
        {[&](const Requests&) { ++seen; }, [&](const Error&, Duration) { ++failed; }}, Random(1));

    watch.start();
    scheduler.run_for(41s);
    EXPECT_GE(seen, 10);
    EXPECT_LE(seen, 13);
    faults.outage = true;
    scheduler.run_for(20s);
    EXPECT_GE(failed, 3);
    faults.outage = false;
    seen = 0;
    scheduler.run_for(20s);
    EXPECT_GE(seen, 3);
    seen = 0;
    watch.look_now();
    scheduler.run_for(1s);
    EXPECT_EQ(seen, 1);
    watch.stop();
    watch.look_now();
    seen = 0;
    scheduler.run_for(20s);
    EXPECT_EQ(seen, 0);
}

}  // namespace
}  // namespace evenkeel::processor
