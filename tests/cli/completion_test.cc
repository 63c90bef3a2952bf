// Completion as a shell meets it.
#include <signal.h>

#include "cli/dev_hub.h"

namespace evenkeel::cli_tests {
namespace {

class Completion : public CliTest {
protected:
    // What bash would offer for the line; the last word is being typed.
    static std::string in_bash(const std::string& words) {
        const auto outcome = fault::run_to_end({"/bin/bash", "-c",
                                                "source <('" EVENKEEL_PROGRAM "' completion bash)\n"
                                                "COMP_WORDS=('" EVENKEEL_PROGRAM "' " +
                                                    words +
                                                    ")\n"
                                                    "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                                                    "_evenkeel '" EVENKEEL_PROGRAM "'\n"
                                                    "echo \"${COMPREPLY[*]}\""});
        EXPECT_EQ(outcome.errors, "");
        return outcome.output;
    }
};

TEST_F(Completion, scripts_are_good_for_their_shell) {
    for (const auto* const shell : {"bash", "zsh", "fish"}) {
        const auto script = evenkeel({"completion", shell});
        EXPECT_EQ(script.exit_code, 0);
        EXPECT_TRUE(has(script.output, "__complete")) << shell;
    }
    const auto checked = fault::run_to_end(
        {"/bin/bash", "-c", "'" EVENKEEL_PROGRAM "' completion bash | bash -n && echo good"});
    EXPECT_EQ(checked.output, "good\n") << checked.errors;
    EXPECT_EQ(evenkeel({"completion", "cmd"}).exit_code, 2);
}

TEST_F(Completion, knows_commands_options_and_their_values) {
    EXPECT_EQ(in_bash("gro"), "group\n");
    EXPECT_EQ(in_bash("hub ''"), "ls create show alter purge rm\n");
    EXPECT_EQ(in_bash("hub ls --out"), "--output\n");
    EXPECT_EQ(in_bash("hub ls -o ''"), "table json name\n");
    EXPECT_EQ(in_bash("read eh1 --partition 0 --fo"), "--follow --format\n");
    EXPECT_EQ(in_bash("completion ''"), "bash zsh fish\n");
    EXPECT_EQ(in_bash("nonsense ''"), "\n");
}

TEST_F(Completion, knows_the_names_that_the_hub_has) {
    ASSERT_EQ(evenkeel({"hub", "create", "orders"}).exit_code, 0);
    EXPECT_EQ(in_bash("hub show ''"), "eh1 orders\n");
    EXPECT_EQ(in_bash("read o"), "orders\n");
    EXPECT_EQ(in_bash("group rm orders ''"), "\\$Default\n") << "quoted for the shell";
    EXPECT_EQ(in_bash("conn --key R"), "RootManageSharedAccessKey\n");
    EXPECT_EQ(in_bash("hub show --url http://localhost:1 ''"), "\n") << "nobody to ask";
    setenv("EVENKEEL_HUB", "nonsense", 1);
    EXPECT_EQ(in_bash("hub show ''"), "\n");
}

}  // namespace
}  // namespace evenkeel::cli_tests
