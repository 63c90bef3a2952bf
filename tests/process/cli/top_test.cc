// `evenkeel top`: the processors of a group in a terminal, live.
#include <signal.h>

#include "process/cli/process_fixture.h"

namespace evenkeel::cli_tests {
namespace {

class TopCommand : public ProcessTest {
protected:
    std::string top() const { return "top " + name_ + " --store " + store_; }
    // On a terminal of that size, until it shows `words`; then `typed` is typed.
    static Outcome on_small_terminal(const std::string& arguments, const std::string& size,
                                     const std::string& words, std::string_view typed) {
        Process process({"/usr/bin/script", "-qec",
                         "stty " + size + "; " + test::evenkeel_program() + " " + arguments,
                         "/dev/null"});
        Outcome outcome;
        for (char c = 0; !has(outcome.output, words) && process.read_output(&c, 1);) {
            outcome.output += c;
        }
        process.write_input(typed);
        outcome.output += process.rest_of_output();
        outcome.exit_code = process.wait().code;
        return outcome;
    }
};

TEST_F(TopCommand, shows_owner_and_position_once_without_a_terminal) {
    create(4);
    Process processor(process({"--id", "worker-1", "--quiet"}));
    send({"--key", "home-1", "hello"});
    ASSERT_TRUE(eventually([&] { return owned_by("worker-1") == 4; }));

    const auto shown = evenkeel({"top", name_, "--store", store_});

    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    EXPECT_TRUE(has(shown.output, "A worker-1  4\n")) << shown.output;
    EXPECT_TRUE(has(shown.output, "BEHIND")) << shown.output;
    EXPECT_FALSE(has(shown.output, "\x1b")) << "plain text";
    processor.signal(SIGTERM);
    processor.rest_of_output();
    processor.wait();
}

TEST_F(TopCommand, draws_until_q_in_forty_columns) {
    create(2);

    const auto drawn =
        on_small_terminal(top() + " --interval 100ms", "cols 40 rows 12", "Nobody reads", "q");

    EXPECT_EQ(drawn.exit_code, 0) << drawn.output;
    for (const auto* const part : {"\x1b[?1049h", "q ends it", "OWNER", "\x1b[?25h\x1b[?1049l"}) {
        EXPECT_TRUE(has(drawn.output, part)) << part << " is not in\n" << drawn.output;
    }
}

TEST_F(TopCommand, leaves_the_terminal_as_it_was_after_ctrl_c) {
    create(2);

    const auto drawn = on_small_terminal(top(), "cols 80 rows 24", "q ends it", "\x03");

    EXPECT_EQ(drawn.exit_code, 130) << drawn.output;
    EXPECT_TRUE(has(drawn.output, "\x1b[?1049l")) << drawn.output;
}

TEST_F(TopCommand, says_what_is_wrong_before_it_draws) {
    create(2);
    const auto nobody = evenkeel({"top", "no-such-hub"});
    EXPECT_EQ(nobody.exit_code, 3) << nobody.errors;
    const auto group = evenkeel({"top", name_, "--group", "stranger", "--store", store_});
    EXPECT_EQ(group.exit_code, 3) << group.errors;
    EXPECT_TRUE(has(group.errors, "stranger")) << group.errors;
    const auto time = evenkeel({"top", "eh1", "--interval", "1ms"});
    EXPECT_EQ(time.exit_code, 2);
    EXPECT_TRUE(has(time.errors, "100ms")) << time.errors;
}

}  // namespace
}  // namespace evenkeel::cli_tests
