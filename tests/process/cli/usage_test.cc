// The program as someone meets it who does not know its commands.
#include "process/cli/dev_hub.h"

namespace evenkeel::cli_tests {
namespace {

class Usage : public CliTest {};

TEST_F(Usage, bare_program_shows_commands_and_a_first_example) {
    const auto bare = evenkeel({});

    EXPECT_EQ(bare.exit_code, 0);
    EXPECT_EQ(bare.errors, "");
    for (const auto* const part :
         {"Run a hub:\n  dev  ", "Events:\n  send  ", "Event processors:\n  process ",
          "Settings:\n", "  evenkeel dev  ", "  evenkeel read eh1  ", "evenkeel COMMAND --help"}) {
        EXPECT_TRUE(has(bare.output, part)) << part << " is not in\n" << bare.output;
    }
    EXPECT_FALSE(has(bare.output, "Subcommands:")) << "a command has no group\n" << bare.output;
    EXPECT_EQ(evenkeel({""}).exit_code, 2) << "an empty word is not the bare program";
}

TEST_F(Usage, takes_the_names_that_other_tools_use) {
    EXPECT_EQ(evenkeel({"hub", "list", "-o", "name"}).output,
              evenkeel({"hub", "ls", "-o", "name"}).output);
    EXPECT_TRUE(has(evenkeel({"hub", "describe", "eh1"}).output, "PARTITION"));
    for (const auto* const verb : {"delete", "remove"}) {
        ASSERT_EQ(evenkeel({"hub", "create", "prey"}).exit_code, 0);
        const auto refused = evenkeel({"hub", verb, "prey"});
        EXPECT_EQ(refused.exit_code, 2) << "it asks as rm does";
        EXPECT_TRUE(has(refused.errors, "--yes")) << refused.errors;
        EXPECT_EQ(evenkeel({"hub", verb, "prey", "--yes"}).exit_code, 0);
        EXPECT_EQ(evenkeel({"hub", "show", "prey"}).exit_code, 3);
    }
    EXPECT_EQ(evenkeel({"group", "list", "eh1", "-o", "name"}).output, "$Default\n");
    EXPECT_EQ(evenkeel({"key", "describe", "RootManageSharedAccessKey"}).exit_code, 0);
}

TEST_F(Usage, help_lists_each_command_once) {
    const auto help = evenkeel({"hub", "--help"});

    EXPECT_EQ(help.exit_code, 0);
    EXPECT_TRUE(has(help.output, "\n  ls  ")) << help.output;
    EXPECT_FALSE(has(help.output, "delete")) << help.output;
    EXPECT_FALSE(has(help.output, "ls, list")) << help.output;
    EXPECT_EQ(evenkeel({"help", "hub", "list"}).exit_code, 0);
}

TEST_F(Usage, suggests_what_was_probably_meant) {
    struct Case {
        std::vector<std::string> arguments;
        std::string expected;
    };
    for (const auto& [arguments, expected] : {
             Case{{"hbu"}, "unknown command 'hbu'; did you mean 'hub'?\n"},
             Case{{"hbu", "ls"}, "unknown command 'hbu'; did you mean 'hub'?\n"},
             Case{{"reda", "send"}, "unknown command 'reda'; did you mean 'read'?\n"},
             Case{{"help", "hbu"}, "unknown command 'hbu'; did you mean 'hub'?\n"},
             Case{{"stat"}, "unknown command 'stat'; did you mean 'status'?\n"},
             Case{{"topic"}, "unknown command 'topic'; did you mean 'hub'?\n"},
             Case{{"consume", "eh1"}, "unknown command 'consume'; did you mean 'read'?\n"},
             Case{{"hub", "lss"}, "unknown command 'lss' of 'evenkeel hub'; did you mean 'ls'?\n"},
             Case{{"hub", "removee", "x"}, "of 'evenkeel hub'; did you mean 'remove'?\n"},
             Case{{"hub", "--lss"}, "unknown option '--lss' of 'evenkeel hub'\n"},
             Case{{"hub", "ls", "--outptu=json"},
                  "unknown option '--outptu' of 'evenkeel hub ls'; did you mean '--output'?\n"},
             Case{{"read", "--folow"}, "did you mean '--follow'?\n"},
             Case{{"hub", "show", "eh1", "eh2"},
                  "unexpected argument 'eh2' of 'evenkeel hub show'\n"},
             Case{{"frobnicate"}, "unknown command 'frobnicate'\n  try: evenkeel --help\n"},
             Case{{"hub"},
                  "needs a command: ls, create, show, alter, purge, rm, backup, restore or copy\n"},
             Case{{"", "ls"}, "unknown command ''\n"},
             Case{{"--contxt", "x", "read", "eh1"},
                  "unknown option '--contxt'; did you mean '--context'?\n"},
             Case{{"-o", "json", "hub", "ls"},
                  "'-o' is an option of 'evenkeel hub ls': it is written behind the command\n"},
             Case{{"status", "eh1", "--watch", "5s"}, "did you mean '--watch=5s'?\n"},
             Case{{"read", "eh1", "-p", "99999999999"},
                  "--partition: '99999999999' is out of range"},
             Case{{"hub", "purge", "eh1", "--before", "-3"},
                  "--before: '-3' is not a sequence number: 0 or more\n"},
             Case{{"process", "eh1", "--from", "foo"}, "--from: 'foo' is no position"},
             Case{{"hub", "ls", "--hub", "foo"},
                  "error: the options that name the hub are not valid\n"},
         }) {
        const auto outcome = evenkeel(arguments);

        EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
        EXPECT_TRUE(has(outcome.errors, expected)) << outcome.errors;
        EXPECT_EQ(outcome.output, "");
    }
}

TEST_F(Usage, a_count_is_not_negative) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"send", "eh1", "x", "--count", "-1"},
          {"read", "eh1", "-n", "-5"},
          {"process", "eh1", "-n", "-1"},
          {"process", "eh1", "--checkpoint-every=-1"},
          {"read", "eh1", "-p", "-1"},
          {"read", "eh1", "-n", "many"}}) {
        const auto refused = evenkeel(words);

        EXPECT_EQ(refused.exit_code, 2) << words.front() << refused.errors;
        EXPECT_EQ(refused.output, "");
    }
    const auto refused = evenkeel({"send", "eh1", "x", "--count", "-1"});
    EXPECT_TRUE(has(refused.errors, "--count: '-1' is not a whole number of 0 or more\n"))
        << refused.errors;
}

TEST_F(Usage, an_empty_name_of_a_hub_is_not_the_default_one) {
    ASSERT_EQ(evenkeel({"hub", "create", "kept"}).exit_code, 0);
    for (const std::string option : {"--hub", "--connection", "--context", "--url", "--ca"}) {
        const auto refused = evenkeel({"hub", "rm", "kept", "--yes", option, ""});

        EXPECT_EQ(refused.exit_code, 2) << option << refused.errors;
        EXPECT_TRUE(has(refused.errors, "the value is empty")) << refused.errors;
    }
    EXPECT_EQ(evenkeel({"hub", "copy", "kept", "other", "--to-connection", ""}).exit_code, 2);
    EXPECT_EQ(evenkeel({"status", "kept", "--store", ""}).exit_code, 2);
    EXPECT_EQ(evenkeel({"--context", "", "hub", "rm", "kept", "--yes"}).exit_code, 2);
    EXPECT_EQ(evenkeel({"hub", "show", "kept"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"hub", "show", "other"}).exit_code, 3);
}

TEST_F(Usage, errors_show_neither_escapes_nor_secrets) {
    const auto outcome = evenkeel({"\x1b[31mhub"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_FALSE(has(outcome.errors, "\x1b")) << outcome.errors;

    const auto pasted = evenkeel({"Endpoint=sb://h;SharedAccessKey=abc"});
    EXPECT_EQ(pasted.exit_code, 2);
    EXPECT_FALSE(has(pasted.errors, "abc")) << pasted.errors;
}

}  // namespace
}  // namespace evenkeel::cli_tests
