// The scale controller with real processes: instances start and end as the lag says.
#include <set>

#include <signal.h>
#include <unistd.h>

#include "process/host/scaled_fixture.h"

namespace evenkeel::fault {
namespace {

constexpr const char* as_azure = R"({"extensions": {"eventHubs": {"maxEventBatchSize": 1}},
                                     "evenkeel": {"checkpoints": "functions"}})";

// Whoever is its parent now may leave it a zombie.
bool has_ended(pid_t process) {
    return kill(process, 0) != 0 ||
           has(test::read_whole_file("/proc/" + std::to_string(process) + "/status"), "State:\tZ");
}

// The scenario of the documentation: ten partitions, a thousand events.
TEST_F(ScaledHost, splits_ten_partitions_and_the_eleventh_instance_waits) {
    constexpr int partitions = 10;
    make_hub("ten", partitions);
    make_slow_app(as_azure, "1");
    auto host = start_scaled({"--target", "100"});

    ASSERT_TRUE(settles({10})) << "one instance takes all";
    send_to_all(partitions, 1, 20);
    ASSERT_TRUE(settles({5, 5})) << "two share them";
    for (const auto& [name, instance] : status().instances) {
        const std::string comm = "/proc/" + std::to_string(instance.process) + "/comm";
        EXPECT_EQ(test::read_whole_file(comm), "evenkeel\n") << name;
    }
    send_to_all(partitions, 21, 100);
    ASSERT_TRUE(settles(std::vector<std::size_t>(10, 1))) << "ten have one each";
    stop_scaled(*host);
    host = start_scaled({"--instances", "11"});
    std::vector<std::size_t> with_a_spare(10, 1);
    with_a_spare.insert(with_a_spare.begin(), 0);
    ASSERT_TRUE(settles(with_a_spare)) << "the eleventh waits";
    set_delay("0");
    EXPECT_TRUE(soon([&] { return unread() == 0; }));
    stop_scaled(*host);

    const auto all = handled();
    EXPECT_EQ(all.size(), 1000u) << "each once, whether or not it failed\n" << said();
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), 1000u);
    EXPECT_TRUE(is_in_order(all));
    host = start_scaled({"--instances", "1"});
    ASSERT_TRUE(settles({10}));
    stop_scaled(*host);
    EXPECT_EQ(handled().size(), 1000u) << "nothing is retrieved again";
}

TEST_F(ScaledHost, drains_surplus_instances_and_repeats_nothing) {
    make_hub("six", 6);
    make_slow_app(as_azure, "0.05");
    auto host = start_scaled({"--instances", "0..3", "--target", "20", "--from-start",
                              "--scale-in-after", "1s", "--idle-after", "2s"});

    send_to_all(6, 1, 40);

    EXPECT_TRUE(soon([&] { return shares().size() == 3; })) << "many are unread";
    EXPECT_TRUE(soon([&] {
        const Status now = status();
        return handled().size() >= 240 && now.is_there && now.instances.empty();
    })) << "to zero, since nothing is left to do";
    const std::string said = stop_scaled(*host);
    const auto all = handled();
    EXPECT_EQ(all.size(), 240u) << said;
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), 240u);
    EXPECT_TRUE(is_in_order(all));
    EXPECT_TRUE(has(said, "has drained (exit code 0)")) << said;
}

TEST_F(ScaledHost, replaces_an_instance_that_was_killed) {
    make_hub("four", 4);
    make_slow_app(as_azure, "0");
    auto host = start_scaled({"--instances", "2", "--profile", "fast"});
    ASSERT_TRUE(settles({2, 2}));
    const auto before = status().instances;

    kill(before.begin()->second.process, SIGKILL);

    EXPECT_TRUE(soon([&] {
        const auto now = status().instances;
        return !now.contains(before.begin()->first) && shares() == std::vector<std::size_t>{2, 2};
    }));
    EXPECT_TRUE(has(stop_scaled(*host), "ended by itself (signal 9)"));
}

TEST_F(ScaledHost, instances_end_by_themselves_if_the_host_is_killed) {
    make_hub("four", 4);
    make_slow_app(as_azure, "0.2");
    send_to_all(4, 1, 20);
    auto host = start_scaled({"--instances", "2"});
    ASSERT_TRUE(settles({2, 2}));
    const auto before = status().instances;

    host->signal(SIGKILL);
    host->wait();

    for (const auto& each : before) {
        EXPECT_TRUE(soon([&] { return has_ended(each.second.process); })) << each.first;
    }
    host = start_scaled({"--instances", "1"});
    EXPECT_TRUE(soon([&] { return unread() == 0; }));
    stop_scaled(*host);
    EXPECT_EQ(handled().size(), 80u) << "they drained, so nothing is repeated";
}

TEST_F(ScaledHost, explains_itself_in_another_terminal) {
    make_hub("four", 4);
    make_slow_app(as_azure, "0");
    const std::vector<std::string> ask = {
        test::evenkeel_program(), "host", "status", app_.path(), "--status-file", status_file()};
    const Outcome before = run_to_end(ask);
    auto host = start_scaled({"--instances", "1..3"});
    ASSERT_TRUE(settles({4}));

    const std::string text = run_to_end(ask).output;
    stop_scaled(*host);
    const Outcome after = run_to_end(ask);

    EXPECT_EQ(before.exit_code, 3) << before.errors;
    EXPECT_TRUE(has(before.errors, "no host of")) << before.errors;
    for (const char* part : {"f: event hub four, group $Default, 4 partitions, 0 unread",
                             "1 wanted, 1 now, from 1 to 3", "why: 0 unread / 1 per instance = 0",
                             "not more: nothing is unread", "not less: min is 1", "0 1 2 3"}) {
        EXPECT_TRUE(has(text, part)) << part << " is not in:\n" << text;
    }
    EXPECT_EQ(after.exit_code, 3) << after.output;
}

// Output that never ends, and has no line in it.
TEST_F(ScaledHost, decides_and_stops_under_a_flood_of_output) {
    make_hub("one", 1);
    app_.add("host.json", "{}").add("f/function.json", R"({"bindings": [{"type":
        "eventHubTrigger", "name": "events", "connection": "HUB", "eventHubName": "one"}],
        "evenkeel": {"command": "touch began; exec cat /dev/zero"}})");
    expect_done({"send", "one", "-q", "x"});
    Process host({"/bin/sh", "-c", R"(exec "$@" 2>> "$0" > /dev/null)",
                  folder_.path() + "/host.log", test::evenkeel_program(), "host", app_.path(),
                  "--store", store(), "--status-file", status_file(), "--scale-every", "300ms",
                  "--instances", "1", "--drain-max", "1s"});
    ASSERT_TRUE(soon([&] { return access((app_.path() + "/f/began").c_str(), F_OK) == 0; }));
    ASSERT_TRUE(soon([&] { return shares() == std::vector<std::size_t>{1}; })) << "it decides";

    host.signal(SIGTERM);
    const Ended ended = host.wait();

    EXPECT_TRUE(ended.exited) << said();
}

TEST_F(ScaledHost, refuses_counts_that_make_no_sense) {
    make_hub("four", 4);
    make_slow_app(as_azure, "0");
    for (const char* count : {"3..2", "0", "-1", "two", "1..x", "..4", "20000", ""}) {
        const Outcome refused =
            run_to_end({test::evenkeel_program(), "host", app_.path(), "--instances", count});
        EXPECT_EQ(refused.exit_code, 2) << count << ": " << refused.output;
    }
    const Outcome both = run_to_end(
        {test::evenkeel_program(), "host", app_.path(), "--instance", "a", "--instances", "2"});
    EXPECT_EQ(both.exit_code, 2) << both.errors;
    const Outcome memory =
        run_to_end({test::evenkeel_program(), "host", app_.path(), "--store", "memory:"});
    EXPECT_EQ(memory.exit_code, 2) << memory.errors;
    EXPECT_TRUE(has(memory.errors, "cannot share a store in memory")) << memory.errors;
}

}  // namespace
}  // namespace evenkeel::fault
