// Commands that name a consumer group which nobody made: they say what is missing and how to make
// it, and end; `process --create-group` makes it.
#include <signal.h>

#include "process/cli/process_fixture.h"

namespace evenkeel::cli_tests {
namespace {

class UnknownGroup : public ProcessTest {
protected:
    void SetUp() override {
        ProcessTest::SetUp();
        create(1);
    }
    void expect_message(const Outcome& outcome) const {
        EXPECT_EQ(outcome.exit_code, 3) << outcome.errors;
        EXPECT_EQ(outcome.output, "");
        EXPECT_TRUE(has(outcome.errors, "why: not_found: event hub '" + name_ +
                                            "' has no consumer group 'billing'"))
            << outcome.errors;
        EXPECT_TRUE(has(outcome.errors, "'evenkeel group create " + name_ + " billing'"))
            << outcome.errors;
        EXPECT_FALSE(has(outcome.errors, "sb://")) << outcome.errors;
    }
    std::string groups() const { return evenkeel({"group", "ls", name_, "-o", "name"}).output; }
};

TEST_F(UnknownGroup, ends_a_processor_and_leaves_no_store) {
    const auto outcome = fault::run_to_end(process({"--group", "billing"}));

    expect_message(outcome);
    EXPECT_TRUE(has(outcome.errors, "or --create-group creates it")) << outcome.errors;
    EXPECT_EQ(fault::run_to_end({"/usr/bin/test", "-e", store_.substr(7)}).exit_code, 1);
}

TEST_F(UnknownGroup, ends_read_and_status) {
    send({"a"});

    expect_message(evenkeel({"read", name_, "--group", "billing"}));
    expect_message(evenkeel({"read", name_, "--group", "billing", "-p", "0"}));
    expect_message(evenkeel({"status", name_, "--group", "billing", "--store", store_}));
}

TEST_F(UnknownGroup, is_created_by_the_first_processor_on_request) {
    send({"a", "b"});

    const auto first =
        fault::run_to_end(process({"--group", "billing", "--create-group", "-n", "1"}));
    const auto second =
        fault::run_to_end(process({"--group", "billing", "--create-group", "-n", "1"}));

    EXPECT_EQ(first.exit_code, 0) << first.errors;
    EXPECT_EQ(first.output, "a\n");
    EXPECT_TRUE(has(first.errors, "created group 'billing'")) << first.errors;
    EXPECT_EQ(second.exit_code, 0) << second.errors;
    EXPECT_EQ(second.output, "b\n");
    EXPECT_FALSE(has(second.errors, "created")) << second.errors;
    EXPECT_EQ(groups(), "$Default\nbilling\n");
}

TEST_F(UnknownGroup, is_not_created_without_the_manage_right) {
    ASSERT_EQ(evenkeel({"key", "create", "reader", "--rights", "listen"}).exit_code, 0);
    const auto connection = evenkeel({"conn", name_, "--key", "reader"}).output;
    ASSERT_TRUE(has(connection, "SharedAccessKeyName=reader")) << connection;

    const auto outcome =
        fault::run_to_end(process({"--group", "billing", "--create-group", "--connection",
                                   connection.substr(0, connection.find('\n'))}));

    EXPECT_EQ(outcome.exit_code, 4) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "--create-group needs a key with the Manage right"))
        << outcome.errors;
    EXPECT_EQ(groups(), "$Default\n");
}

TEST_F(UnknownGroup, is_waited_for_if_it_vanishes_under_a_processor) {
    ASSERT_EQ(evenkeel({"group", "create", name_, "billing"}).exit_code, 0);
    send({"a"});
    Process running(process({"--group", "billing"}));
    char bytes[2] = {};
    ASSERT_TRUE(running.read_output(bytes, 2));

    ASSERT_EQ(evenkeel({"group", "rm", name_, "billing", "--yes"}).exit_code, 0);
    std::string report;
    while (!has(report, "not_found")) {
        report = running.read_error_line();
        ASSERT_NE(report, "") << "it ended";
    }
    const auto shown =
        evenkeel({"status", name_, "--group", "billing", "--store", store_, "-o", "json"});
    ASSERT_EQ(evenkeel({"group", "create", name_, "billing"}).exit_code, 0);
    send({"b"});

    EXPECT_TRUE(has(report, "again in")) << report;
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    EXPECT_TRUE(has(shown.errors, "has no consumer group 'billing' any more")) << shown.errors;
    EXPECT_TRUE(running.read_output(bytes, 2));
    EXPECT_EQ(std::string(bytes, 2), "b\n");
    running.signal(SIGINT);
    EXPECT_EQ(running.wait().code, 0);
}

}  // namespace
}  // namespace evenkeel::cli_tests
