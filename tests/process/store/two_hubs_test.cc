// Two hubs on one host, with an event hub of the same name, and one store.
#include <string>
#include <vector>

#include <signal.h>

#include <gtest/gtest.h>

#include "support/dev_server.h"
#include "support/paths.h"
#include "support/temporary_directory.h"

namespace evenkeel::fault {
namespace {

class TwoHubs : public testing::Test {
protected:
    void SetUp() override {
        for (const DevServer* server : {&one_, &two_}) {
            server->make_default();
            ASSERT_EQ(evenkeel({"hub", "create", "homes", "--partitions", "2"}).exit_code, 0);
        }
    }
    static Outcome evenkeel(std::vector<std::string> words) {
        words.insert(words.begin(), test::evenkeel_program());
        return run_to_end(words);
    }
    std::vector<std::string> process() {
        return {test::evenkeel_program(),
                "process",
                "homes",
                "--store",
                store_,
                "--profile",
                "fast",
                "--quiet",
                "--checkpoint-every",
                "1"};
    }
    Outcome status() { return evenkeel({"status", "homes", "--store", store_, "-o", "json"}); }
    // Of both partitions.
    bool is_all_handled() {
        const std::string told = status().output;
        const std::string none = "\"lag_events\": 0";
        const auto first = told.find(none);
        return first != std::string::npos && told.find(none, first + 1) != std::string::npos &&
               !has(told, "\"position\": -1");
    }
    // Sends two events for each partition, and waits until they are handled.
    void send_and_process() {
        for (const char* partition : {"0", "1"}) {
            ASSERT_EQ(evenkeel({"send", "homes", "-q", "-p", partition, "a", "b"}).exit_code, 0);
        }
        Process running(process());
        EXPECT_TRUE(eventually([&] { return is_all_handled(); })) << status().output;
        running.signal(SIGINT);
        running.wait();
    }

    test::TemporaryDirectory folder_;
    const std::string store_ = "sqlite:" + folder_.path() + "/progress.db";
    const DevServer one_{folder_.path() + "/one"};
    const DevServer two_{folder_.path() + "/two"};
};

TEST_F(TwoHubs, do_not_share_the_entries_of_one_store) {
    one_.make_default();
    send_and_process();

    two_.make_default();
    const auto refused = run_to_end(process());
    const auto looked = status();

    EXPECT_NE(refused.exit_code, 0);
    EXPECT_TRUE(has(refused.errors, "belong to another hub")) << refused.errors;
    EXPECT_TRUE(has(refused.errors, "evenkeel checkpoint adopt homes")) << refused.errors;
    EXPECT_NE(looked.exit_code, 0);
    EXPECT_TRUE(has(looked.errors, "belong to another hub")) << looked.errors;
}

TEST_F(TwoHubs, may_follow_each_other_if_an_operator_says_so) {
    one_.make_default();
    send_and_process();

    two_.make_default();
    const auto adopted = evenkeel({"checkpoint", "adopt", "homes", "--store", store_});
    EXPECT_EQ(adopted.exit_code, 0) << adopted.errors;
    send_and_process();

    one_.make_default();
    EXPECT_TRUE(has(run_to_end(process()).errors, "belong to another hub"));
}

TEST_F(TwoHubs, are_one_if_they_are_two_names_of_one) {
    one_.make_default("localhost");
    send_and_process();

    one_.make_default("127.0.0.1");
    EXPECT_TRUE(is_all_handled()) << status().output;
    send_and_process();
    one_.make_default("localhost");
    EXPECT_TRUE(is_all_handled()) << status().output;
}

}  // namespace
}  // namespace evenkeel::fault
