// What all commands have in common: names of options, JSON, tables, numbers and times.
#include <algorithm>
#include <regex>

#include <boost/json.hpp>

#include "process/cli/process_fixture.h"

namespace evenkeel::cli_tests {
namespace {

namespace json = boost::json;
using Words = std::vector<std::string>;

class Style : public ProcessTest {
protected:
    void SetUp() override {
        ProcessTest::SetUp();
        set_name("style");
        if (evenkeel({"hub", "show", name_}).exit_code == 0) return;
        create(1);
        send({"one", "--key", "k", "-P", "n=1"});
        const auto handled = fault::run_to_end(process({"--count", "1", "--id", "worker"}));
        ASSERT_EQ(handled.exit_code, 0) << handled.errors;
    }
    std::vector<Words> tables() const {
        const Words store = {"--store", store_};
        std::vector<Words> all = {{"hub", "ls"},
                                  {"hub", "show", name_},
                                  {"group", "ls", name_},
                                  {"key", "ls"},
                                  {"key", "show", "RootManageSharedAccessKey"},
                                  {"check", name_}};
        for (Words words : std::vector<Words>{{"status", name_},
                                              {"processor", "ls", name_},
                                              {"processor", "history", name_},
                                              {"checkpoint", "ls", name_}}) {
            words.insert(words.end(), store.begin(), store.end());
            all.push_back(words);
        }
        return all;
    }
    static std::string joined(const Words& words) {
        std::string line;
        for (const auto& word : words) line += (line.empty() ? "" : " ") + word;
        return line;
    }
};

// Times are texts in RFC 3339, whatever has a name of a time.
void expect_good(const json::value& value, const std::string& where) {
    if (const auto* const object = value.if_object()) {
        for (const auto& member : *object) {
            const std::string name(member.key());
            EXPECT_FALSE(name.ends_with("_ms") && name != "retention_ms") << where << "." << name;
            if (name.ends_with("_at") || name == "since" || name == "owned_since" || name == "at") {
                const bool is_time =
                    member.value().is_null() ||
                    (member.value().is_string() &&
                     std::regex_match(
                         std::string(member.value().as_string()),
                         std::regex("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z")));
                EXPECT_TRUE(is_time) << where << "." << name << json::serialize(member.value());
            }
            if (name == "partition_list" || name == "groups" || name == "members" ||
                name == "rights") {
                EXPECT_TRUE(member.value().is_array()) << where << "." << name;
            }
            expect_good(member.value(), where + "." + name);
        }
    }
    if (const auto* const array = value.if_array()) {
        for (const auto& item : *array) expect_good(item, where + "[]");
    }
}

TEST_F(Style, json_has_plain_numbers_rfc_3339_times_and_lists) {
    for (Words words : tables()) {
        words.insert(words.end(), {"-o", "json"});
        const auto outcome = evenkeel(words);
        boost::system::error_code error;
        const auto value = json::parse(outcome.output, error);
        ASSERT_FALSE(error) << joined(words) << outcome.output << outcome.errors;
        EXPECT_FALSE(std::regex_search(outcome.output, std::regex("[0-9]E[-0-9]")))
            << joined(words) << outcome.output;
        expect_good(value, joined(words));
    }
    const auto listed = evenkeel({"processor", "ls", name_, "--store", store_, "-o", "json"});
    const auto instances = json::parse(listed.output);
    for (const auto& one : instances.as_array()) {
        EXPECT_TRUE(one.at("partitions").is_array()) << listed.output;
    }
}

TEST_F(Style, tables_are_tab_separated_where_there_is_no_terminal) {
    for (const Words& words : tables()) {
        const auto outcome = evenkeel(words);
        std::string_view rest = outcome.output;
        const auto tabs = [&] {
            const auto line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(rest.size(), line.size() + 1));
            EXPECT_EQ(line.find("  "), std::string_view::npos) << joined(words) << outcome.output;
            return std::count(line.begin(), line.end(), '\t');
        };
        const auto head = tabs();
        EXPECT_TRUE(head > 0 || words[0] == "group") << joined(words) << outcome.output;
        while (!rest.empty()) EXPECT_EQ(tabs(), head) << joined(words) << outcome.output;
    }
}

TEST_F(Style, tables_fit_into_forty_columns) {
    setenv("NO_COLOR", "1", 1);
    for (const Words& words : tables()) {
        if (words[0] == "check" || words[1] == "show") continue;  // sentences and secrets
        const auto outcome =
            fault::run_to_end({"/usr/bin/script", "-qec",
                               "stty cols 40 rows 24; '" + test::evenkeel_program() + "' " +
                                   joined(words) + " 2>/dev/null",
                               "/dev/null"});
        std::string_view rest = outcome.output;
        while (!rest.empty()) {
            const auto line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(rest.size(), line.size() + 1));
            EXPECT_LE(line.size(), 45u) << joined(words) << "\n" << outcome.output;
        }
    }
    unsetenv("NO_COLOR");
}

TEST_F(Style, every_command_that_reaches_a_hub_or_store_names_it_alike) {
    int hubs = 0;
    int stores = 0;
    for (const Words& words : std::vector<Words>{{"send"},
                                                 {"read"},
                                                 {"hub", "ls"},
                                                 {"hub", "copy"},
                                                 {"hub", "backup"},
                                                 {"group", "ls"},
                                                 {"key", "ls"},
                                                 {"conn"},
                                                 {"check"},
                                                 {"process"},
                                                 {"status"},
                                                 {"top"},
                                                 {"scale"},
                                                 {"deadletter", "ls"},
                                                 {"processor", "ls"},
                                                 {"processor", "drain"},
                                                 {"checkpoint", "ls"},
                                                 {"checkpoint", "set"},
                                                 {"checkpoint", "import"}}) {
        Words asked = words;
        asked.emplace_back("--help");
        const std::string help = evenkeel(asked).output;
        EXPECT_TRUE(has(help, "--hub,--connection STRING")) << joined(words) << help;
        EXPECT_TRUE(has(help, "[EVENKEEL_HUB; that of 'evenkeel dev']")) << joined(words);
        ++hubs;
        if (!has(help, "--store")) continue;
        ++stores;
        EXPECT_TRUE(has(help, "--store STORE=sqlite:evenkeel-progress.db (Env:EVENKEEL_STORE)"))
            << joined(words) << help;
    }
    EXPECT_EQ(hubs, 19);
    EXPECT_EQ(stores, 10);
}

TEST_F(Style, one_is_singular) {
    EXPECT_TRUE(has(evenkeel({"hub", "create", "single", "--partitions", "1"}).errors,
                    "'single': 1 partition,"));
    EXPECT_TRUE(has(evenkeel({"conn", "single", "--test"}).errors, "has 1 partition\n"));
    EXPECT_TRUE(has(evenkeel({"send", "single", "x"}).errors, "1 event"));
    EXPECT_FALSE(has(evenkeel({"send", "single", "x"}).errors, "1 events"));
    const auto status = evenkeel({"status", "single", "--store", store_});
    EXPECT_TRUE(has(status.errors, "2 events behind")) << status.errors;
    EXPECT_TRUE(has(evenkeel({"hub", "rm", "single", "--yes"}).errors, "with 2 events"));
}

}  // namespace
}  // namespace evenkeel::cli_tests
