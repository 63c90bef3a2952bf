// Completion as a shell meets it.
#include <signal.h>
#include <unistd.h>

#include "process/cli/dev_hub.h"
#include "support/paths.h"

namespace evenkeel::cli_tests {
namespace {

class Completion : public CliTest {
protected:
    // What bash would offer for the line; the last word is being typed.
    static std::string in_bash(const std::string& words) {
        const auto outcome = fault::run_to_end({"/bin/bash", "-c",
                                                "source <('" + test::evenkeel_program() +
                                                    "' completion bash)\n"
                                                    "COMP_WORDS=('" +
                                                    test::evenkeel_program() + "' " + words +
                                                    ")\n"
                                                    "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                                                    "_evenkeel '" +
                                                    test::evenkeel_program() +
                                                    "'\n"
                                                    "echo \"${COMPREPLY[*]}\""});
        EXPECT_EQ(outcome.errors, "");
        return outcome.output;
    }

    // The same for names that the hub knows. A shell is not kept waiting: on a busy machine the
    // hub's answer may come too late, and nothing is offered.
    static std::string from_the_hub(const std::string& words) {
        std::string offered = "\n";
        for (int i = 0; i < 20 && offered == "\n"; ++i) offered = in_bash(words);
        return offered;
    }

    static bool has_shell(const std::string& name) {
        return access(("/usr/bin/" + name).c_str(), X_OK) == 0;
    }
    // The shell, with our program in its PATH and nothing of its user's.
    static Outcome in_shell(std::vector<std::string> command) {
        const std::string program = test::evenkeel_program();
        const std::string folder = program.substr(0, program.rfind('/'));
        command.insert(command.begin(), {"/usr/bin/env", "HOME=" + hub_->file(""),
                                         "PATH=" + folder + ":/usr/bin:/bin"});
        return fault::run_to_end(command);
    }
    // What zsh would be given for the line; the last word is being typed.
    static std::string in_zsh(const std::string& words) {
        const auto outcome = in_shell({"zsh", "-f", "-c",
                                       "autoload -U compinit && compinit -D -u\n"
                                       "source <(evenkeel completion zsh)\n"
                                       "compadd() { print -- \"$names\" }\n"
                                       "_files() { print files }\n"
                                       "local -a words=(evenkeel " +
                                           words +
                                           ")\n"
                                           "local -i CURRENT=$#words\n"
                                           "$_comps[evenkeel]"});
        EXPECT_EQ(outcome.errors, "");
        return outcome.output;
    }
    // What fish offers for the line, with descriptions.
    static std::string in_fish(const std::string& line) {
        const auto outcome =
            in_shell({"fish", "--no-config", "-c",
                      "evenkeel completion fish | source; complete -C 'evenkeel " + line + "'"});
        EXPECT_EQ(outcome.errors, "");
        return outcome.output;
    }
};

TEST_F(Completion, scripts_are_valid_in_their_shell) {
    for (const auto* const shell : {"bash", "zsh", "fish"}) {
        const auto script = evenkeel({"completion", shell});
        EXPECT_EQ(script.exit_code, 0);
        EXPECT_TRUE(has(script.output, "__complete")) << shell;
    }
    const auto checked = fault::run_to_end(
        {"/bin/bash", "-c",
         "'" + test::evenkeel_program() + "' completion bash | bash -n && echo good"});
    EXPECT_EQ(checked.output, "good\n") << checked.errors;
    EXPECT_EQ(evenkeel({"completion", "cmd"}).exit_code, 2);
}

TEST_F(Completion, knows_commands_options_and_their_values) {
    EXPECT_EQ(in_bash("gro"), "group\n");
    EXPECT_EQ(in_bash("hub ''"), "ls create show alter purge rm backup restore copy\n");
    EXPECT_EQ(in_bash("hub li"), "list\n") << "an alias, once it was begun";
    EXPECT_EQ(in_bash("hub de"), "describe delete\n");
    EXPECT_EQ(in_bash("hub list --out"), "--output\n");
    EXPECT_EQ(in_bash("hub ls --out"), "--output\n");
    EXPECT_EQ(in_bash("hub ls -o ''"), "table json name\n");
    EXPECT_EQ(in_bash("read eh1 --partition 0 --fo"), "--follow --format\n");
    EXPECT_EQ(in_bash("completion ''"), "bash zsh fish\n");
    EXPECT_EQ(in_bash("nonsense ''"), "\n");
}

TEST_F(Completion, knows_the_names_that_the_hub_has) {
    ASSERT_EQ(evenkeel({"hub", "create", "orders"}).exit_code, 0);
    EXPECT_EQ(from_the_hub("hub show ''"), "eh1 orders\n");
    EXPECT_EQ(from_the_hub("read o"), "orders\n");
    EXPECT_EQ(from_the_hub("group rm orders ''"), "\\$Default\n") << "quoted for the shell";
    EXPECT_EQ(from_the_hub("conn --key R"), "RootManageSharedAccessKey\n");
    EXPECT_EQ(in_bash("hub show --url http://localhost:1 ''"), "\n") << "nobody to ask";
    setenv("EVENKEEL_HUB", "nonsense", 1);
    EXPECT_EQ(in_bash("hub show ''"), "\n");
}

TEST_F(Completion, works_in_zsh) {
    if (!has_shell("zsh")) GTEST_SKIP() << "zsh is not installed";
    EXPECT_EQ(in_zsh("hu"), "hub\n");
    EXPECT_EQ(in_zsh("hub ''"), "ls create show alter purge rm backup restore copy\n");
    EXPECT_EQ(in_zsh("hub ls -o ''"), "table json name\n");
    EXPECT_EQ(in_zsh("nonsense ''"), "files\n");
}

TEST_F(Completion, comes_with_the_tab_key_in_zsh) {
    if (!has_shell("zsh")) GTEST_SKIP() << "zsh is not installed";
    const auto typed = in_shell(
        {"zsh", "-f", "-c",
         "zmodload zsh/zpty\n"
         "zpty terminal zsh -f -i\n"
         "zpty -w terminal 'autoload -U compinit && compinit -D -u; source <(evenkeel completion "
         "zsh)'\n"
         "zpty -w -n terminal $'evenkeel comple\\tba\\t> ~/script; exit\\n'\n"
         "while zpty -r terminal line; do print -rn -- \"$line\"; done\n"
         "cmp ~/script <(evenkeel completion bash) && print the same"});

    EXPECT_TRUE(has(typed.output, "the same\n")) << typed.output << typed.errors;
}

TEST_F(Completion, works_in_fish) {
    if (!has_shell("fish")) GTEST_SKIP() << "fish is not installed";
    EXPECT_TRUE(in_fish("hu").starts_with("hub\tEvent hubs")) << in_fish("hu");
    EXPECT_TRUE(has(in_fish("hub "), "purge\tDelete the events of an event hub"))
        << in_fish("hub ");
    EXPECT_EQ(in_fish("hub ls -o j"), "json\n");
    EXPECT_TRUE(has(in_fish("serve --config /etc/host"), "/etc/hosts\n"));
    EXPECT_EQ(in_fish("nonsense "), "");
}

}  // namespace
}  // namespace evenkeel::cli_tests
