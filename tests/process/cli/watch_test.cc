// Lists that are shown again and again.
#include <signal.h>

#include <boost/json.hpp>

#include "process/cli/dev_hub.h"

namespace evenkeel::cli_tests {
namespace {

class WatchOption : public CliTest {
protected:
    static std::vector<std::string> command(std::vector<std::string> words) {
        words.insert(words.begin(), test::evenkeel_program());
        return words;
    }
    static std::string line_of(Process& process) {
        std::string line;
        for (char c = 0; process.read_output(&c, 1) && c != '\n';) line += c;
        return line;
    }
    static int interrupted(Process& process) {
        process.signal(SIGINT);
        process.rest_of_output();
        process.rest_of_errors();
        return process.wait().code;
    }
};

TEST_F(WatchOption, prints_one_json_document_per_line) {
    for (const auto& words :
         std::vector<std::vector<std::string>>{{"hub", "ls"},
                                               {"hub", "show", "eh1"},
                                               {"group", "ls", "eh1"},
                                               {"key", "ls"},
                                               {"check"},
                                               {"status", "eh1"},
                                               {"checkpoint", "ls", "eh1", "--store", "memory:"}}) {
        auto all = command(words);
        all.insert(all.end(), {"-o", "json", "--watch=100ms"});
        Process process(all);
        for (int round = 0; round < 2; ++round) {
            const std::string line = line_of(process);
            boost::json::error_code failed;
            (void)boost::json::parse(line, failed);
            EXPECT_FALSE(failed) << words[0] << ": " << line;
            EXPECT_FALSE(line.empty()) << words[0];
        }
        EXPECT_EQ(interrupted(process), 130) << words[0];
    }
}

TEST_F(WatchOption, prints_blocks_where_there_is_no_terminal) {
    Process process(command({"group", "list", "eh1", "--watch=100ms"}));

    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(line_of(process), "GROUP");
        EXPECT_EQ(line_of(process), "$Default");
        EXPECT_EQ(line_of(process), "") << "between blocks";
    }
    EXPECT_EQ(interrupted(process), 130);
}

TEST_F(WatchOption, redraws_a_terminal_until_q) {
    const auto drawn = on_terminal("hub ls --watch=100ms", "q");

    EXPECT_EQ(drawn.exit_code, 0) << drawn.output;
    for (const auto* const part : {"\x1b[?1049h", "every 100ms", "q ends it", "HUB  PARTITIONS",
                                   "eh1", "\x1b[?25h\x1b[?1049l"}) {
        EXPECT_TRUE(has(drawn.output, part)) << part << " is not in\n" << drawn.output;
    }
    EXPECT_TRUE(has(on_terminal("status eh1 --watch", "q").output, "0 events behind"))
        << "what goes to stderr is drawn too";
}

TEST_F(WatchOption, ends_with_130_by_an_interrupt_from_the_terminal) {
    Process process(
        {"/usr/bin/script", "-qec", test::evenkeel_program() + " hub ls --watch", "/dev/null"});
    std::string drawn;
    for (char c = 0; !has(drawn, "q ends it") && process.read_output(&c, 1);) drawn += c;
    process.write_input("\x03");

    drawn += process.rest_of_output();
    EXPECT_EQ(process.wait().code, 130) << drawn;
    EXPECT_TRUE(has(drawn, "\x1b[?1049l")) << "the terminal is as it was before\n" << drawn;
}

TEST_F(WatchOption, goes_on_while_the_hub_is_away) {
    auto hub = std::make_unique<DevHub>();
    hub->make_default();
    Process process(command({"hub", "ls", "-o", "name", "--watch=100ms", "--timeout", "1s"}));
    EXPECT_EQ(line_of(process), "eh1");

    hub.reset();

    for (int round = 0; round < 2; ++round) {
        std::string line;
        while (!has(line, "cannot be listed")) {
            line = process.read_error_line();
            ASSERT_NE(line, "") << "it ended";
        }
    }
    EXPECT_EQ(interrupted(process), 130);
}

TEST_F(WatchOption, ends_with_the_error_of_its_first_round) {
    EXPECT_EQ(evenkeel({"hub", "show", "nobody", "--watch"}).exit_code, 3);
    EXPECT_EQ(evenkeel({"hub", "ls", "--watch", "--url", "http://localhost:1"}).exit_code, 5);
    EXPECT_EQ(on_terminal("hub show nobody --watch").exit_code, 3);
    const auto wrong = evenkeel({"hub", "ls", "--watch=soon"});
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_TRUE(has(wrong.errors, "'soon' is not a time")) << wrong.errors;
}

}  // namespace
}  // namespace evenkeel::cli_tests
