// Standard output as every command meets it: a full disk, a pipe that nobody reads, a terminal that
// obeys what it is sent.
#include <sstream>

#include "process/cli/process_fixture.h"

namespace evenkeel::cli_tests {
namespace {

using Words = std::vector<std::string>;

std::string line_of(const Words& words) {
    std::string line;
    for (const auto& word : words) line += word + " ";
    return line;
}

// The command in a shell, with more behind it: a redirection, a pipe.
Outcome in_shell(const Words& words, const std::string& more, const std::string& before = "") {
    Words command = {"/bin/bash", "-c", before + "\"$0\" \"$@\" " + more, test::evenkeel_program()};
    command.insert(command.end(), words.begin(), words.end());
    return fault::run_to_end(command);
}

// All commands, as their help lists them, from `words` on.
void walk_commands(const Words& words, std::vector<Words>& found) {
    Words asked = words;
    asked.emplace_back("--help");
    const std::string help = evenkeel(asked).output;
    found.push_back(words);
    const std::string mark = "\nSubcommands:\n";
    auto at = help.find(mark);
    if (at == std::string::npos) return;
    at += mark.size();
    // "  name     what it does"; what follows without two blanks is another paragraph.
    while (help.compare(at, 2, "  ") == 0) {
        const auto end = help.find('\n', at);
        const auto begin = help.find_first_not_of(' ', at);
        if (begin == at + 2) {
            Words deeper = words;
            deeper.push_back(help.substr(begin, help.find_first_of(" \n", begin) - begin));
            walk_commands(deeper, found);
        }
        if (end == std::string::npos) return;
        at = end + 1;
    }
}

class Output : public ProcessTest {
protected:
    void SetUp() override {
        ProcessTest::SetUp();
        set_name("output");
        if (is_ready_) return;
        is_ready_ = true;
        create(1);
        send({"one", "two", "--key", "k"});
        const auto handled = fault::run_to_end(process({"--count", "2", "--id", "worker"}));
        ASSERT_EQ(handled.exit_code, 0) << handled.errors;
    }
    static void TearDownTestSuite() {
        is_ready_ = false;
        ProcessTest::TearDownTestSuite();
    }
    std::vector<Words> printing_commands() const {
        return {{"hub", "ls"},
                {"hub", "ls", "-o", "json"},
                {"hub", "ls", "-o", "name"},
                {"hub", "show", name_},
                {"hub", "show", name_, "-o", "json"},
                {"hub", "create", name_, "--if-not-exists", "-o", "json"},
                {"group", "ls", name_},
                {"group", "ls", name_, "-o", "json"},
                {"key", "ls"},
                {"key", "show", "RootManageSharedAccessKey"},
                {"conn"},
                {"conn", "--env"},
                {"conn", "-o", "json"},
                {"check"},
                {"check", "-o", "json"},
                {"read", name_},
                {"read", name_, "-o", "json"},
                {"read", name_, "-f", "%v"},
                {"status", name_, "--store", store_},
                {"status", name_, "--store", store_, "-o", "json"},
                {"processor", "ls", name_, "--store", store_},
                {"processor", "history", name_, "--store", store_, "-o", "json"},
                {"checkpoint", "ls", name_, "--store", store_},
                {"checkpoint", "export", name_, "--store", store_},
                {"completion", "bash"},
                {"--version"},
                {"__complete", "hub", ""}};
    }

    inline static bool is_ready_ = false;
};

TEST_F(Output, a_full_disk_fails_every_command_that_prints) {
    for (const auto& words : printing_commands()) {
        const auto outcome = in_shell(words, "> /dev/full");
        EXPECT_EQ(outcome.exit_code, 1) << line_of(words) << outcome.errors;
        EXPECT_TRUE(has(outcome.errors, "standard output cannot be written")) << line_of(words);
        EXPECT_TRUE(has(outcome.errors, "No space left on device"))
            << line_of(words) << outcome.errors;
    }
}

TEST_F(Output, a_full_disk_fails_the_help_of_every_command) {
    std::vector<Words> commands = {{}};
    std::istringstream nouns(evenkeel({"__complete", ""}).output);  // the first level has groups
    for (std::string noun; std::getline(nouns, noun);) {
        walk_commands({noun.substr(0, noun.find('\t'))}, commands);
    }
    EXPECT_GT(commands.size(), 25u);
    for (auto words : commands) {
        words.emplace_back("--help");
        const auto outcome = in_shell(words, "> /dev/full");
        EXPECT_EQ(outcome.exit_code, 1) << line_of(words) << outcome.errors;
        EXPECT_TRUE(has(outcome.errors, "standard output cannot be written")) << line_of(words);
    }
}

TEST_F(Output, more_than_a_buffer_on_a_full_disk_fails_too) {
    Words words = {"send", name_};
    for (int i = 0; i < 50; ++i) words.emplace_back(1000, 'x');
    ASSERT_EQ(evenkeel(words).exit_code, 0);

    const auto ended = in_shell({"read", name_}, "> /dev/full");
    const auto followed = in_shell({"read", name_, "--follow"}, "> /dev/full");

    EXPECT_EQ(ended.exit_code, 1) << ended.errors;
    EXPECT_EQ(followed.exit_code, 1) << followed.errors;
    EXPECT_TRUE(has(followed.errors, "standard output cannot be written")) << followed.errors;
}

TEST_F(Output, a_closed_standard_output_fails) {
    const auto outcome = in_shell({"hub", "ls"}, ">&-");

    EXPECT_EQ(outcome.exit_code, 1) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "standard output cannot be written")) << outcome.errors;
}

TEST_F(Output, a_full_standard_error_does_not_abort) {
    EXPECT_EQ(in_shell({"hub", "show", "nope"}, "2> /dev/full").exit_code, 1);
    EXPECT_EQ(in_shell({"nonsense"}, "2> /dev/full").exit_code, 1);
}

TEST_F(Output, a_reader_that_leaves_ends_a_command_quietly) {
    Words words = {"send", name_};
    for (int i = 0; i < 100; ++i) words.emplace_back(1000, 'x');
    ASSERT_EQ(evenkeel(words).exit_code, 0);
    const std::string head = "| head -n 1 > /dev/null; echo ${PIPESTATUS[0]}";

    const auto usual = in_shell({"read", name_, "--follow"}, head);
    const auto ignored = in_shell({"read", name_, "--follow"}, head, "trap '' PIPE; ");

    EXPECT_EQ(usual.output, "141\n") << "by SIGPIPE, as other programs";
    EXPECT_EQ(usual.errors, "");
    EXPECT_EQ(ignored.output, "1\n");
    EXPECT_EQ(ignored.errors, "");
}

class Hostile : public ProcessTest {
protected:
    // A title, a cleared screen by ESC and by its one-character form, a carriage return, and text
    // that runs backwards.
    const std::string evil_ = "a\x1b]0;owned\x07\x1b[2J\xc2\x9b\x32J\rb\u202ec";

    void SetUp() override {
        ProcessTest::SetUp();
        setenv("NO_COLOR", "1", 1);
        set_name("hostile");
        if (evenkeel({"hub", "show", name_}).exit_code == 0) return;
        create(1);
        const auto sent = evenkeel({"send", name_, evil_, "--key", evil_, "-P", evil_ + "=" + evil_,
                                    "--content-type", "text/plain"});
        ASSERT_EQ(sent.exit_code, 0) << sent.errors;
    }
    void TearDown() override { unsetenv("NO_COLOR"); }

    static void expect_tame(const std::string& text, const std::string& what) {
        for (const char* const wild : {"\x1b", "\x07", "\xc2\x9b", "\rb", "\u202e"}) {
            EXPECT_FALSE(has(text, wild))
                << what << " has " << testing::PrintToString(wild) << text;
        }
    }
};

TEST_F(Hostile, events_do_not_reach_a_terminal_raw) {
    for (const std::string& words :
         {"read " + name_, "read " + name_ + " -q", "read " + name_ + " -o json",
          "read " + name_ + " -f '%k|%v|%h|%c\\n'"}) {
        const auto outcome = on_terminal(words);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
        EXPECT_TRUE(has(outcome.output, "owned")) << words << outcome.output;
        expect_tame(outcome.output, words);
    }
    const auto shown = on_terminal("read " + name_ + " -q");
    EXPECT_TRUE(has(shown.output, "a\\x1b]0;owned\\x07\\x1b[2J\\x9b2J\\x0db\\u202ec"))
        << shown.output;
}

TEST_F(Hostile, a_processor_does_not_print_them_raw) {
    const auto outcome =
        on_terminal("process " + name_ + " --store " + store_ + " --count 1 --profile fast");

    EXPECT_TRUE(has(outcome.output, "owned")) << outcome.output;
    expect_tame(outcome.output, "process");
}

TEST_F(Hostile, programs_get_the_bytes) {
    EXPECT_EQ(evenkeel({"read", name_}).output, evil_ + "\n");
    EXPECT_EQ(evenkeel({"read", name_, "-f", "%k"}).output, evil_);
    const auto raw = on_terminal("read " + name_ + " -o raw");
    EXPECT_TRUE(has(raw.output, evil_)) << "asked for";
}

TEST_F(Hostile, arguments_and_answers_do_not_reach_a_terminal_raw) {
    for (const Words& words : {Words{"hub", "show", evil_},
                               {"hub", "create", evil_},
                               {"group", "create", name_, evil_},
                               {"group", "ls", evil_},
                               {"key", "show", evil_},
                               {"read", evil_},
                               {"send", evil_, "x"},
                               {"read", name_, "--from", evil_},
                               {"read", name_, "--filter", evil_},
                               {"status", name_, "--store", evil_},
                               {"checkpoint", "ls", name_, "--store", "sqlite:" + evil_},
                               {"hub", "ls", "--url", evil_},
                               {"hub", "ls", evil_},
                               {evil_}}) {
        const auto outcome = evenkeel(words);
        EXPECT_NE(outcome.exit_code, 0) << outcome.output;
        expect_tame(outcome.errors, words.front() + " " + (words.size() > 1 ? words[1] : ""));
    }
}

}  // namespace
}  // namespace evenkeel::cli_tests
