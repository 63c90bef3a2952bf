// `evenkeel scale`: how many instances a group needs, against a running hub.
#include <boost/json.hpp>

#include "process/cli/process_fixture.h"

namespace evenkeel::cli_tests {
namespace {

class ScaleCommand : public ProcessTest {
protected:
    Outcome scale(std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {"scale", name_, "--store", store_});
        return evenkeel(more);
    }
};

// A newcomer: a hub, some events, nobody who reads.
TEST_F(ScaleCommand, starts_with_one_and_follows_the_lag) {
    create(4);
    EXPECT_EQ(scale({"-o", "count"}).output, "0\n");
    send({"a", "b", "c", "d", "e", "f", "g", "h", "--partition", "0"});

    const auto first = scale();
    EXPECT_EQ(first.exit_code, 0) << first.errors;
    EXPECT_EQ(first.output,
              "1 instance wanted, 0 now\n"
              "  why: 1 unread / 100 per instance = 1; 1 partition without a checkpoint\n"
              "  not more: one is enough for up to 100 unread events\n"
              "  not less: somebody has to read the unread events\n");
    EXPECT_TRUE(has(first.errors, "no processor has used it yet")) << first.errors;
    EXPECT_EQ(scale({"-o", "count", "--target", "3", "--from-start"}).output, "4\n");

    ASSERT_EQ(fault::run_to_end(process({"-n", "1", "-q"})).exit_code, 0);
    const auto later = scale({"--target", "3", "-o", "json"});
    const auto json = boost::json::parse(later.output);
    EXPECT_EQ(json.at("unread").as_int64(), 7) << later.output;
    EXPECT_EQ(json.at("wanted").as_int64(), 4);
    EXPECT_EQ(json.at("instances").as_int64(), 0);
    EXPECT_EQ(json.at("why").as_string(),
              "7 unread / 3 per instance = 3, next even split of 4 partitions = 4");
    EXPECT_EQ(scale({"--target", "3", "--max", "2", "-o", "count"}).output, "2\n");
    EXPECT_EQ(scale({"--target", "3", "--standby", "1", "-o", "count"}).output, "5\n");
    EXPECT_EQ(scale({"--target", "1000", "--min", "3", "-o", "count"}).output, "3\n");
}

TEST_F(ScaleCommand, counts_all_events_of_a_hub_that_was_created_again) {
    create(1);
    send({"a", "b", "c"});
    ASSERT_EQ(fault::run_to_end(process({"-n", "3", "-q"})).exit_code, 0);
    EXPECT_EQ(scale({"-o", "count"}).output, "0\n");
    ASSERT_EQ(evenkeel({"hub", "rm", name_, "--yes"}).exit_code, 0);
    create(1);
    send({"d", "e", "f"});

    EXPECT_EQ(partitions().at(0).lag_events, 3);
    EXPECT_EQ(scale({"-o", "count", "--target", "3"}).output, "1\n");
    EXPECT_EQ(boost::json::parse(scale({"-o", "json"}).output).at("unread").as_int64(), 3);
    const auto told = evenkeel({"status", name_, "--store", store_});
    EXPECT_TRUE(has(told.errors, "partition 0: the event hub was created again")) << told.errors;
    EXPECT_EQ(fault::run_to_end(process({"-n", "3", "-q"})).exit_code, 0);
    EXPECT_EQ(partitions().at(0).lag_events, 0);
}

TEST_F(ScaleCommand, holds_while_a_partition_stands_still) {
    create(1);
    send({"a", "b", "c"});
    ASSERT_EQ(fault::run_to_end(process({"-n", "3", "-q"})).exit_code, 0);
    ASSERT_EQ(evenkeel({"checkpoint", "set", name_, "--store", store_, "-p", "0", "--to", "seq:500",
                        "--force"})
                  .exit_code,
              0);

    const auto held = scale({"-o", "count"});
    EXPECT_EQ(held.exit_code, 6) << held.errors;
    EXPECT_EQ(held.output, "hold\n");
    EXPECT_TRUE(has(held.errors,
                    "partition 0 stands still: its checkpoint is at event 499, but "
                    "the last event is 2"))
        << held.errors;
    const auto told = evenkeel({"status", name_, "--store", store_});
    EXPECT_TRUE(has(told.errors, "partition 0 stands still")) << told.errors;
    EXPECT_TRUE(has(status().output, "\"stands_still\": true"));
    const auto seen = evenkeel({"top", name_, "--store", store_});
    EXPECT_TRUE(has(seen.output, "beyond end")) << seen.output;
}

TEST_F(ScaleCommand, says_hold_when_the_store_cannot_be_read) {
    create(2);
    store_ = "redis://:secret@127.0.0.1:1";

    const auto held = scale();
    EXPECT_EQ(held.exit_code, 5) << held.errors;
    EXPECT_EQ(held.output, "hold\n");
    EXPECT_TRUE(has(held.errors, "is the checkpoint store")) << held.errors;
    EXPECT_FALSE(has(held.errors, "secret")) << held.errors;
    EXPECT_EQ(scale({"-o", "count"}).output, "hold\n") << "not a number: a script must not take it";
    const auto json = scale({"-o", "json"});
    EXPECT_EQ(json.exit_code, 5);
    EXPECT_EQ(boost::json::parse(json.output).at("state").as_string(), "unknown");
    EXPECT_TRUE(boost::json::parse(json.output).at("wanted").is_null());
    EXPECT_FALSE(has(json.output, "secret")) << json.output;
}

TEST_F(ScaleCommand, says_hold_when_the_hub_cannot_be_read) {
    const auto held = scale({"--hub",
                             "Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=a;"
                             "SharedAccessKey=b;UseDevelopmentEmulator=true"});

    EXPECT_EQ(held.exit_code, 5) << held.errors;
    EXPECT_EQ(held.output, "hold\n");
}

TEST_F(ScaleCommand, refuses_limits_that_make_no_sense) {
    for (const auto& [words, why] : std::vector<std::pair<std::vector<std::string>, std::string>>{
             {{"--target", "0"}, "from 1 to 1000000000"},
             {{"--target", "-1"}, "from 1 to 1000000000"},
             {{"--min", "3", "--max", "2"}, "min is 3, which is above max, 2"},
             {{"--max", "4000000000"}, "at most 10000"}}) {
        const auto refused = scale(words);
        EXPECT_EQ(refused.exit_code, 2) << refused.errors;
        EXPECT_TRUE(has(refused.errors, why)) << refused.errors;
        EXPECT_EQ(refused.output, "");
    }
    create(1);
    EXPECT_EQ(scale({"--group", "nobody"}).exit_code, 3) << "there is no such group";
}

}  // namespace
}  // namespace evenkeel::cli_tests
