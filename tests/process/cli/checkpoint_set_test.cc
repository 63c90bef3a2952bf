// `evenkeel checkpoint` and `processor pause` against a running hub: what they store fits the hub.
#include "process/cli/process_fixture.h"

namespace evenkeel::cli_tests {
namespace {

using Words = std::vector<std::string>;

class CheckpointSet : public ProcessTest {
protected:
    Outcome run(Words words, const Words& more = {}) const {
        words.insert(words.begin() + 2, {name_, "--store", store_});
        words.insert(words.end(), more.begin(), more.end());
        return evenkeel(words);
    }
    void handle(const std::string& count) const {
        ASSERT_EQ(fault::run_to_end(process({"-n", count, "-q"})).exit_code, 0);
    }
};

TEST_F(CheckpointSet, counts_in_a_hub_that_was_created_again) {
    create(1);
    send({"a", "b", "c"});
    handle("3");
    ASSERT_EQ(evenkeel({"hub", "rm", name_, "--yes"}).exit_code, 0);
    create(1);
    send({"d", "e", "f", "g"});

    const auto rewound = run({"checkpoint", "rewind", "--by", "1"});
    EXPECT_EQ(rewound.exit_code, 6) << rewound.errors;
    EXPECT_TRUE(has(rewound.errors, "was created again")) << rewound.errors;
    const auto set = run({"checkpoint", "set", "--to", "seq:2"});
    EXPECT_EQ(set.exit_code, 0) << set.errors;
    EXPECT_EQ(partitions().at(0).lag_events, 2);
    const auto handled = fault::run_to_end(process({"-n", "2", "-f", "%v\\n"}));
    EXPECT_EQ(handled.output, "f\ng\n") << handled.errors;

    ASSERT_EQ(run({"checkpoint", "set", "--to", "end"}).exit_code, 0);
    EXPECT_EQ(partitions().at(0).lag_events, 0);
}

TEST_F(CheckpointSet, refuses_a_position_behind_the_last_event) {
    create(2);
    send({"a", "b", "-p", "0"});
    handle("2");

    const auto refused = run({"checkpoint", "set", "--to", "seq:500", "-p", "0"});
    EXPECT_EQ(refused.exit_code, 2) << refused.errors;
    EXPECT_TRUE(has(refused.errors, "event 499 does not exist: the last one is 1"))
        << refused.errors;
    EXPECT_TRUE(has(refused.errors, "--force")) << refused.errors;
    EXPECT_EQ(run({"checkpoint", "set", "--to", "seq:3", "-p", "0"}).exit_code, 2);
    EXPECT_EQ(run({"checkpoint", "set", "--to", "seq:1", "-p", "1"}).exit_code, 2);
    EXPECT_EQ(partitions().at(0).position, 1);
    EXPECT_EQ(run({"checkpoint", "set", "--to", "seq:2", "-p", "0"}).exit_code, 0)
        << "the next event that is sent";
    EXPECT_EQ(run({"checkpoint", "set", "--to", "seq:500", "-p", "0", "--force"}).exit_code, 0);
    EXPECT_EQ(partitions().at(0).position, 499);
}

TEST_F(CheckpointSet, pauses_partitions_that_the_hub_has) {
    create(4);
    send({"a", "-p", "0"});
    handle("1");
    EXPECT_EQ(run({"processor", "pause", "-p", "0", "-p", "3"}).output, "paused: partitions 0,3\n");
    EXPECT_EQ(run({"processor", "resume", "-p", "0"}).output, "paused: partitions 3\n");
}

TEST_F(CheckpointSet, processor_ls_says_that_there_is_no_instance) {
    create(1);
    send({"a"});
    handle("1");
    const auto listed = run({"processor", "ls"});
    EXPECT_EQ(listed.exit_code, 0) << listed.errors;
    EXPECT_TRUE(has(listed.errors, "no instance of group '$Default' has an entry in the store"))
        << listed.errors;
}

TEST_F(CheckpointSet, refuses_what_the_hub_does_not_have) {
    create(2);
    send({"a", "-p", "0"});
    handle("1");
    const auto before = run({"checkpoint", "ls"}).output;

    for (const Words& words : {Words{"checkpoint", "set", "--to", "start", "-p", "77"},
                               {"checkpoint", "set", "--to", "start", "-p", "0", "--group", "nog"},
                               {"checkpoint", "rewind", "--by", "1", "-p", "77"},
                               {"checkpoint", "copy", "--to-group", "nog"},
                               {"processor", "pause", "-p", "77"},
                               {"processor", "resume", "-p", "77"},
                               {"processor", "pause", "--group", "nog"},
                               {"processor", "ls", "--group", "nog"},
                               {"scale"}}) {
        const auto refused = words[0] == "scale"
                                 ? evenkeel({"scale", name_, "--store", store_, "--group", "nog"})
                                 : run(words);
        EXPECT_EQ(refused.exit_code, 3) << words[0] << words.back() << refused.errors;
        EXPECT_TRUE(has(refused.errors, "has no partition 77; it has 2 partitions") ||
                    has(refused.errors, "has no consumer group 'nog'"))
            << refused.errors;
    }
    EXPECT_EQ(run({"checkpoint", "ls"}).output, before);
    EXPECT_FALSE(has(run({"processor", "ls"}, {"--group", "nog"}).errors, "paused"));
    for (const Words& words : {Words{"checkpoint", "set", "nosuch", "-p", "0", "--to", "seq:0"},
                               {"processor", "pause", "nosuch"}}) {
        Words whole = words;
        whole.insert(whole.end(), {"--store", store_});
        const auto refused = evenkeel(whole);
        EXPECT_EQ(refused.exit_code, 3) << refused.errors;
    }
    EXPECT_EQ(run({"checkpoint", "set", "--to", "start", "-p", "0"}, {"--group", "nog", "--force"})
                  .exit_code,
              0);
}

}  // namespace
}  // namespace evenkeel::cli_tests
