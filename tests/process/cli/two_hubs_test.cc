// Two hubs on one machine that know the same key: a command changes the hub that it was given, and
// no other.
#include "base/clock.h"
#include "process/cli/dev_hub.h"

namespace evenkeel::cli_tests {
namespace {

class TwoHubs : public testing::Test {
protected:
    TwoHubs() {
        for (const char* name :
             {"EVENKEEL_HUB", "EVENTHUB_CONNECTION_STRING", "EVENKEEL_URL", "EVENKEEL_CA"}) {
            unsetenv(name);
        }
    }
    ~TwoHubs() override { unsetenv("EVENKEEL_URL"); }

    static std::string hubs_of(const DevHub& hub) {
        return evenkeel({"hub", "ls", "-o", "name", "--hub", hub.connection()}).output;
    }

    const DevHub first_{{"--hub", "foo"}};
    const DevHub second_{{"--hub", "foo", "--https-port", "0"}};
};

TEST_F(TwoHubs, a_connection_string_alone_finds_its_own_admin_interface) {
    const auto made = evenkeel({"hub", "create", "bar", "--hub", second_.connection()});

    EXPECT_EQ(made.exit_code, 0) << made.errors;
    EXPECT_EQ(hubs_of(first_), "foo\n");
    EXPECT_EQ(hubs_of(second_), "bar\nfoo\n");

    const auto removed = evenkeel({"hub", "rm", "foo", "--yes", "--hub", second_.connection()});

    EXPECT_EQ(removed.exit_code, 0) << removed.errors;
    EXPECT_EQ(hubs_of(first_), "foo\n");
    EXPECT_EQ(hubs_of(second_), "bar\n");
}

TEST_F(TwoHubs, the_admin_interface_is_found_by_tls_and_by_websocket) {
    setenv("EVENKEEL_CA", second_.certificate().c_str(), 1);
    const std::string tls = "Endpoint=sb://localhost:" + second_.amqps_port() +
                            ";SharedAccessKeyName=RootManageSharedAccessKey;"
                            "SharedAccessKey=SAS_KEY_VALUE";
    const auto ws = evenkeel({"conn", "--for", "ws", "--hub", second_.connection()});
    ASSERT_EQ(ws.exit_code, 0) << ws.errors;
    const std::string by_websocket = ws.output.substr(0, ws.output.find('\n'));

    const auto by_tls = evenkeel({"hub", "create", "secure", "--hub", tls});
    const auto by_web = evenkeel({"hub", "create", "web", "--hub", by_websocket});

    EXPECT_EQ(by_tls.exit_code, 0) << by_tls.errors;
    EXPECT_EQ(by_web.exit_code, 0) << by_web.errors;
    EXPECT_EQ(hubs_of(first_), "foo\n");
    EXPECT_EQ(hubs_of(second_), "foo\nsecure\nweb\n");
}

TEST_F(TwoHubs, every_admin_command_refuses_the_url_of_another_hub) {
    const std::vector<std::vector<std::string>> commands = {
        {"hub", "ls"},
        {"hub", "show", "foo"},
        {"hub", "create", "bar"},
        {"hub", "alter", "foo", "--partitions", "9"},
        {"hub", "purge", "foo", "--yes"},
        {"hub", "rm", "foo", "--yes"},
        {"group", "ls", "foo"},
        {"group", "create", "foo", "g"},
        {"group", "rm", "foo", "g", "--yes"},
        {"key", "ls"},
        {"key", "show", "RootManageSharedAccessKey"},
        {"key", "create", "k", "--rights", "send"},
        {"key", "rotate", "k", "--key", "primary"},
        {"key", "rm", "k", "--yes"}};
    for (auto command : commands) {
        const std::string line = command[0] + " " + command[1];
        command.insert(command.end(), {"--hub", second_.connection(), "--url", first_.url()});
        const auto outcome = evenkeel(command);

        EXPECT_EQ(outcome.exit_code, 6) << line << ": " << outcome.errors;
        EXPECT_EQ(outcome.output, "") << line;
        EXPECT_TRUE(has(outcome.errors, "is the admin interface of another hub")) << line;
        EXPECT_TRUE(has(outcome.errors, "leave out --url and EVENKEEL_URL")) << line;
    }
    EXPECT_EQ(hubs_of(first_), "foo\n");
    EXPECT_EQ(hubs_of(second_), "foo\n");
}

TEST_F(TwoHubs, a_url_of_the_environment_is_compared_too) {
    setenv("EVENKEEL_URL", first_.url().c_str(), 1);

    const auto removed = evenkeel({"hub", "rm", "foo", "--yes", "--hub", second_.connection()});
    const auto checked = evenkeel({"check", "foo", "--hub", second_.connection()});

    EXPECT_EQ(removed.exit_code, 6) << removed.errors;
    EXPECT_EQ(checked.exit_code, 9) << checked.output;
    EXPECT_TRUE(has(checked.output, "FAIL\tadmin")) << checked.output;
}

TEST_F(TwoHubs, a_url_alone_names_the_hub) {
    const auto made = evenkeel({"hub", "create", "bar", "--url", second_.url()});

    EXPECT_EQ(made.exit_code, 0) << made.errors;
    EXPECT_EQ(hubs_of(first_), "foo\n");
    EXPECT_EQ(hubs_of(second_), "bar\nfoo\n");
}

TEST_F(TwoHubs, nothing_is_changed_if_the_hub_cannot_be_asked) {
    const std::string nobody =
        "Endpoint=sb://localhost:1;SharedAccessKeyName=RootManageSharedAccessKey;"
        "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true";

    const auto removed =
        evenkeel({"hub", "rm", "foo", "--yes", "--hub", nobody, "--url", first_.url()});
    const auto listed =
        evenkeel({"hub", "ls", "-o", "name", "--hub", nobody, "--url", first_.url()});

    EXPECT_EQ(removed.exit_code, 5) << removed.errors;
    EXPECT_TRUE(has(removed.errors, "cannot be checked")) << removed.errors;
    EXPECT_EQ(hubs_of(first_), "foo\n");
    EXPECT_EQ(listed.output, "foo\n") << "a look changes nothing";
}

// The entries under "localhost" are those of the first one.
TEST_F(TwoHubs, entries_are_not_changed_if_the_hub_is_out_of_reach) {
    const std::string store = "sqlite:" + first_.file("progress.db");
    const auto with_store = [&](std::vector<std::string> command, const std::string& connection) {
        command.insert(command.begin() + 2, "foo");
        command.insert(command.end(), {"--store", store, "--hub", connection});
        return evenkeel(command);
    };
    const auto exported = [&] {
        return with_store({"checkpoint", "export"}, first_.connection()).output +
               with_store({"deadletter", "export"}, first_.connection()).output;
    };
    ASSERT_EQ(evenkeel({"send", "foo", "bad", "-q", "--hub", first_.connection()}).exit_code, 0);
    Process running({test::evenkeel_program(), "process", "foo", "--hub", first_.connection(),
                     "--store", store, "--exec", "! grep -q bad", "--attempts", "1",
                     "--checkpoint-every", "1"});
    const SystemClock clock;
    const Instant end = clock.now() + std::chrono::seconds(120);
    std::string before;
    while (!has(before, "\"sequence\":0") || !has(before, "\"cause\":")) {
        ASSERT_LT(clock.now(), end) << before;
        before = exported();
    }
    running.signal(SIGINT);
    running.wait();
    before = exported();
    const std::string nobody =
        "Endpoint=sb://localhost:1;SharedAccessKeyName=RootManageSharedAccessKey;"
        "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true";

    for (const auto& command :
         std::vector<std::vector<std::string>>{{"checkpoint", "set", "--to", "start"},
                                               {"checkpoint", "set", "--to", "start", "--dry-run"},
                                               {"checkpoint", "rewind", "--by", "1"},
                                               {"checkpoint", "copy", "--to-group", "other"},
                                               {"processor", "pause"},
                                               {"processor", "resume"},
                                               {"deadletter", "rm", "--all", "--yes"},
                                               {"deadletter", "rm", "--all", "--dry-run"},
                                               {"deadletter", "replay", "--all", "--dry-run"}}) {
        const auto refused = with_store(command, nobody);
        const std::string line = command[0] + " " + command[1] + ": " + refused.errors;
        EXPECT_EQ(refused.exit_code, 6) << line;
        EXPECT_TRUE(has(refused.errors, "nothing was changed")) << line;
        EXPECT_TRUE(has(refused.errors, "--namespace localhost")) << line;
    }
    EXPECT_EQ(exported(), before);

    const auto listed = with_store({"checkpoint", "ls"}, nobody);
    EXPECT_EQ(listed.exit_code, 0) << listed.errors;
    EXPECT_TRUE(has(listed.errors, "warning: the entries of 'foo'")) << listed.errors;
    const auto insisted =
        with_store({"checkpoint", "set", "--to", "start", "--namespace", "localhost"}, nobody);
    EXPECT_EQ(insisted.exit_code, 0) << insisted.errors;
    EXPECT_NE(exported(), before);
}

TEST_F(TwoHubs, conn_prints_the_admin_address_of_its_hub) {
    const auto environment = evenkeel({"conn", "--env", "--hub", second_.connection()});
    const auto json = evenkeel({"conn", "-o", "json", "--hub", second_.connection()});

    EXPECT_TRUE(has(environment.output, "export EVENKEEL_URL='" + second_.url() + "'\n"))
        << environment.output;
    EXPECT_TRUE(has(json.output, "\"admin_url\": \"" + second_.url() + "\"")) << json.output;
}

}  // namespace
}  // namespace evenkeel::cli_tests
