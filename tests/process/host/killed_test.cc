// Unmodified Python and Node apps while their instances are killed and scaled in: nothing is lost,
// the order within a partition is kept, and only kills make an execution repeat.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include <signal.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "process/host/scaled_fixture.h"

namespace evenkeel::fault {
namespace {

constexpr int partitions = 4;

constexpr const char* python_app = R"(
import json
import time
import azure.functions as func

app = func.FunctionApp()


@app.event_hub_message_trigger(arg_name="events", event_hub_name="work", connection="HUB",
                               consumer_group="many", cardinality="many")
@app.event_hub_output(arg_name="alerts", event_hub_name="alerts", connection="HUB")
@app.retry(strategy="fixed_delay", max_retry_count="2", delay_interval="00:00:00")
def many(events: list[func.EventHubEvent], alerts: func.Out[str], context: func.Context):
    bodies = [json.loads(event.get_body()) for event in events]
    time.sleep(0.05)
    if context.retry_context.retry_count == 0 and any(body["n"] % 7 == 0 for body in bodies):
        raise ValueError("the first attempt fails")
    alerts.set([json.dumps({"f": "many", **body}) for body in bodies])


@app.event_hub_message_trigger(arg_name="event", event_hub_name="work", connection="HUB",
                               consumer_group="one")
@app.event_hub_output(arg_name="$return", event_hub_name="alerts", connection="HUB")
@app.retry(strategy="fixed_delay", max_retry_count="2", delay_interval="00:00:00")
def one(event: func.EventHubEvent, context: func.Context) -> str:
    body = json.loads(event.get_body())
    time.sleep(0.02)
    if context.retry_context.retry_count == 0 and body["n"] % 7 == 0:
        raise ValueError("the first attempt fails")
    return json.dumps({"f": "one", **body})
)";

constexpr const char* node_app = R"(
const { app, output } = require("@azure/functions");
const alerts = output.eventHub({ eventHubName: "alerts", connection: "HUB" });
const retry = { strategy: "fixedDelay", maxRetryCount: 2, delayInterval: { milliseconds: 1 } };
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

app.eventHub("many", {
    connection: "HUB", eventHubName: "work", consumerGroup: "many", cardinality: "many", retry,
    extraOutputs: [alerts],
    handler: async (events, context) => {
        await pause(50);
        if (context.retryContext.retryCount === 0 && events.some((event) => event.n % 7 === 0)) {
            throw new Error("the first attempt fails");
        }
        context.extraOutputs.set(alerts, events.map((event) => ({ f: "many", ...event })));
    },
});

app.eventHub("one", {
    connection: "HUB", eventHubName: "work", consumerGroup: "one", cardinality: "one", retry,
    return: alerts,
    handler: async (event, context) => {
        await pause(20);
        if (context.retryContext.retryCount === 0 && event.n % 7 === 0) {
            throw new Error("the first attempt fails");
        }
        return { f: "one", ...event };
    },
});
)";

class KilledHost : public ScaledHost {
protected:
    KilledHost() {
        make_hub("work", partitions);
        expect_done({"group", "create", "work", "many"});
        expect_done({"group", "create", "work", "one"});
        app_.add("host.json", R"({"extensions": {"eventHubs": {"maxEventBatchSize": 5}}})");
    }

    // So many more to each partition; their numbers are dense.
    void send_more(int events) {
        for (int partition = 0; partition < partitions; ++partition) {
            std::vector<std::string> words = {"send", "work", "-q", "--partition",
                                              std::to_string(partition)};
            for (int n = sent_ + 1; n <= sent_ + events; ++n) {
                words.push_back("{\"p\":" + std::to_string(partition) +
                                ",\"n\":" + std::to_string(n) + "}");
            }
            expect_done(words);
        }
        sent_ += events;
    }
    // Reads what the functions wrote, and compares what is new with the rules.
    void look() {
        const std::string text = evenkeel({"read", "alerts", "-q", "-o", "json"});
        std::int64_t line = 0;
        std::size_t begin = 0;
        for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
            if (line++ == outputs_) take(boost::json::parse(text.substr(begin, end - begin)));
            begin = end + 1;
        }
    }
    void take(const boost::json::value& output) {
        const auto written = output.at("body").is_string()
                                 ? boost::json::parse(output.at("body").as_string())
                                 : output.at("body");
        const Place place{written.at("f").as_string() == "one" ? 1 : 0, written.at("p").as_int64()};
        std::int64_t& last = last_[place];
        const std::int64_t n = written.at("n").as_int64();
        EXPECT_LE(n, last + 1) << "an event was passed over: " << boost::json::serialize(written);
        if (n <= last) ++repeats_;
        last = std::max(last, n);
        ++outputs_;
    }
    bool is_all_written() {
        look();
        if (last_.size() < std::size_t{2} * partitions) return false;
        return std::ranges::all_of(last_, [&](const auto& each) { return each.second == sent_; });
    }
    std::size_t drained() const { return count(said(), "has drained (exit code 0)"); }

    // Bursts that need more instances, and calm in which they are drained.
    void scale_in_three_times() {
        auto host = start_scaled({"--instances", "1..4", "--target", "10", "--from-start",
                                  "--scale-in-after", "1s", "--idle-after", "2s"});
        while (drained() < 3 && !HasFailure()) {
            send_more(25);
            ASSERT_TRUE(soon([&] { return status().instances.size() > 1; })) << said();
            ASSERT_TRUE(soon([&] { return is_all_written(); })) << said();
            ASSERT_TRUE(soon([&] { return status().instances.size() == 1; })) << said();
        }
        stop_scaled(*host);
        EXPECT_EQ(repeats_, 0) << said();
    }
    void kill_ten() {
        auto host = start_scaled({"--instances", "2", "--profile", "fast"});
        std::set<std::string> killed;
        while (killed.size() < 10 && !HasFailure()) {
            send_more(10);
            const auto before = outputs_;
            ASSERT_TRUE(soon([&] {
                look();
                return outputs_ > before;
            })) << said();
            for (const auto& [name, instance] : status().instances) {
                if (instance.state != "running" || instance.partitions.empty()) continue;
                if (killed.size() == 10 || !killed.insert(name).second) continue;
                EXPECT_EQ(kill(instance.process, SIGKILL), 0) << name;
            }
        }
        EXPECT_TRUE(soon([&] { return is_all_written(); })) << said();
        EXPECT_EQ(count(said(), "ended by itself (signal 9)"), 10u) << said();
        stop_scaled(*host);
        // Of each kill at most the batch that was running, for each partition of both functions.
        EXPECT_LE(repeats_, 10 * partitions * (5 + 1));
    }
    void expect_nothing_repeated_or_left() {
        const int after_kills = repeats_;
        auto host = start_scaled({"--instances", "2"});
        send_more(10);
        EXPECT_TRUE(soon([&] { return is_all_written(); })) << said();
        stop_scaled(*host);
        EXPECT_EQ(repeats_, after_kills) << "only kills repeat";
        for (const char* group : {"many", "one"}) {
            const auto answer = boost::json::parse(
                evenkeel({"scale", "work", "--group", group, "--store", store(), "-o", "json"}));
            EXPECT_EQ(answer.at("unread").as_int64(), 0) << group;
        }
        RecordProperty("repeats", repeats_);
        RecordProperty("outputs", static_cast<int>(outputs_));
    }

    int sent_ = 0;  // to each partition
    std::int64_t outputs_ = 0;
    int repeats_ = 0;
    std::map<Place, std::int64_t> last_;  // by function and partition
};

TEST_F(KilledHost, loses_nothing_of_a_python_app) {
    const Outcome packages =
        run_to_end({test::source_path("tests/process/host/packages"), "python"});
    if (packages.exit_code != 0) GTEST_SKIP() << "azure-functions: " << packages.errors;
    setenv("PYTHONPATH", packages.output.substr(0, packages.output.find('\n')).c_str(), 1);
    app_.add("function_app.py", python_app);

    scale_in_three_times();
    kill_ten();

    expect_nothing_repeated_or_left();
}

TEST_F(KilledHost, loses_nothing_of_a_node_app) {
    const Outcome packages = run_to_end({test::source_path("tests/process/host/packages"), "node"});
    if (packages.exit_code != 0) GTEST_SKIP() << "@azure/functions: " << packages.errors;
    const std::string modules = packages.output.substr(0, packages.output.find('\n'));
    app_.add("package.json", R"({"main": "functions.js"})").add("functions.js", node_app);
    ASSERT_EQ(symlink((modules + "/node_modules").c_str(), (app_.path() + "/node_modules").c_str()),
              0);

    scale_in_three_times();
    kill_ten();

    expect_nothing_repeated_or_left();
}

}  // namespace
}  // namespace evenkeel::fault
