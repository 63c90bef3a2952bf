// hub, group, key, conn and check: what they print and how they end.
#include <signal.h>

#include <boost/json.hpp>

#include "process/cli/dev_hub.h"
#include "support/paths.h"

namespace evenkeel::cli_tests {
namespace {

namespace json = boost::json;

json::value parsed(const std::string& text) {
    boost::system::error_code error;
    auto value = json::parse(text, error);
    EXPECT_FALSE(error) << text;
    return value;
}

class AdminCommands : public CliTest {};

TEST_F(AdminCommands, create_show_alter_and_remove_an_event_hub) {
    const auto made = evenkeel({"hub", "create", "orders", "--partitions", "3", "--retention", "2d",
                                "--group", "billing"});
    EXPECT_EQ(made.exit_code, 0) << made.errors;
    EXPECT_EQ(made.output, "") << "talk is for stderr";
    EXPECT_EQ(made.errors, "created event hub 'orders': 3 partitions, retention 2d\n");
    EXPECT_EQ(evenkeel({"send", "orders", "a", "b", "-p", "1"}).exit_code, 0);

    const auto list = evenkeel({"hub", "ls"});
    EXPECT_TRUE(
        has(list.output, "HUB\tPARTITIONS\tEVENTS\tSIZE\tIN/s\tOUT/s\tOLDEST\tRETENTION\tGROUPS\n"))
        << list.output;
    EXPECT_TRUE(has(list.output, "\norders\t3\t2\t")) << list.output;
    EXPECT_TRUE(has(list.output, "\t172800000\t2\n")) << list.output;
    EXPECT_EQ(evenkeel({"hub", "ls", "-o", "name"}).output, "eh1\norders\n");
    const auto listed = parsed(evenkeel({"hub", "ls", "-o", "json"}).output).as_array();
    ASSERT_EQ(listed.size(), 2u);
    EXPECT_EQ(listed[1].at("name"), "orders");
    EXPECT_EQ(listed[1].at("events"), 2);
    EXPECT_EQ(listed[1].at("groups").as_array().size(), 2u);
    EXPECT_TRUE(listed[0].at("last_enqueued_at").is_null());
    EXPECT_TRUE(listed[0].at("oldest_enqueued_at").is_null());
    EXPECT_EQ(listed[1].at("oldest_enqueued_at"), listed[1].at("last_enqueued_at"))
        << "both were sent in one batch";

    const auto shown = parsed(evenkeel({"hub", "show", "orders", "-o", "json"}).output);
    EXPECT_EQ(shown.at("partition_list").at(1).at("events"), 2);
    EXPECT_EQ(shown.at("partition_list").at(1).at("last_sequence_number"), 1);
    EXPECT_EQ(shown.at("partition_list").at(0).at("events"), 0) << "without events, but open";
    EXPECT_EQ(shown.at("partition_list").at(0).at("last_sequence_number"), -1);
    EXPECT_TRUE(has(evenkeel({"hub", "show", "orders"}).output, "\n1\t0\t1\t2\t"));

    const auto altered = evenkeel({"hub", "alter", "orders", "--partitions", "4", "--retention",
                                   "forever", "--partition-bytes-max", "1GiB", "-o", "json"});
    EXPECT_EQ(altered.exit_code, 0) << altered.errors;
    EXPECT_EQ(parsed(altered.output).at("partitions"), 4);
    EXPECT_EQ(parsed(altered.output).at("retention_ms"), 0);
    EXPECT_EQ(parsed(altered.output).at("partition_bytes_max"), 1 << 30);

    EXPECT_EQ(evenkeel({"hub", "rm", "orders", "--yes"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"hub", "ls", "-o", "name"}).output, "eh1\n");
}

TEST_F(AdminCommands, show_events_in_and_out_per_second) {
    ASSERT_EQ(evenkeel({"hub", "create", "busy", "--partitions", "2"}).exit_code, 0);
    std::vector<std::string> send = {"send", "busy"};
    for (int i = 0; i < 100; ++i) send.push_back(std::to_string(i));
    // Until it is seen: a busy machine may take longer than the ten seconds that are reported.
    double in = 0;
    double out = 0;
    for (int round = 0; round < 20 && (in == 0 || out == 0); ++round) {
        ASSERT_EQ(evenkeel(send).exit_code, 0);
        ASSERT_EQ(evenkeel({"read", "busy"}).exit_code, 0);
        const auto shown = parsed(evenkeel({"hub", "show", "busy", "-o", "json"}).output);
        in = shown.at("events_in_per_second").to_number<double>();
        out = shown.at("events_out_per_second").to_number<double>();
    }

    EXPECT_GT(in, 0);
    EXPECT_GT(out, 0);
    const auto shown = on_terminal("hub show busy");
    EXPECT_TRUE(has(shown.output, "IN/s  OUT/s")) << shown.output;
    EXPECT_TRUE(has(shown.output, "Oldest event leaves in 6d 23h at the earliest."))
        << shown.output;
    EXPECT_EQ(evenkeel({"hub", "rm", "busy", "--yes"}).exit_code, 0);
}

TEST_F(AdminCommands, show_tables_with_colour_on_a_terminal_only) {
    const auto list = on_terminal("hub ls");
    EXPECT_TRUE(has(list.output, "\x1b[2mHUB  PARTITIONS")) << list.output;
    EXPECT_TRUE(has(list.output, "       7d")) << list.output;
    setenv("NO_COLOR", "1", 1);
    EXPECT_FALSE(has(on_terminal("hub ls").output, "\x1b["));
    const auto shown = on_terminal("hub show eh1");
    EXPECT_TRUE(has(shown.output, "eh1   2 partitions   retention 7d   created 20"))
        << shown.output;
    EXPECT_FALSE(has(evenkeel({"hub", "ls"}).output, "\x1b["));
}

TEST_F(AdminCommands, ask_before_they_remove_events) {
    ASSERT_EQ(evenkeel({"hub", "create", "prey", "--partitions", "1"}).exit_code, 0);
    ASSERT_EQ(evenkeel({"send", "prey", "a", "b", "c"}).exit_code, 0);

    for (const auto& verb : {"rm", "purge"}) {
        const auto refused = evenkeel({"hub", verb, "prey"});
        EXPECT_EQ(refused.exit_code, 2);
        EXPECT_TRUE(has(refused.errors, "--yes")) << refused.errors;
        EXPECT_TRUE(has(refused.errors, "3 events")) << refused.errors;
        const auto looked = evenkeel({"hub", verb, "prey", "--dry-run"});
        EXPECT_EQ(looked.exit_code, 10) << looked.errors;
        const auto no = on_terminal(std::string("hub ") + verb + " prey", "n\n");
        EXPECT_EQ(no.exit_code, 1) << no.output;
        EXPECT_TRUE(has(no.output, "Nothing was changed.")) << no.output;
    }
    EXPECT_EQ(evenkeel({"read", "prey"}).output, "a\nb\nc\n") << "all is still there";

    EXPECT_EQ(evenkeel({"hub", "purge", "prey", "--before", "2", "-y"}).errors,
              "purged 2 events of event hub 'prey'\n");
    EXPECT_EQ(evenkeel({"read", "prey"}).output, "c\n");
    EXPECT_EQ(evenkeel({"hub", "purge", "prey", "-p", "7", "-y"}).exit_code, 3);
    EXPECT_EQ(on_terminal("hub purge prey", "y\n").exit_code, 0);
    EXPECT_EQ(evenkeel({"read", "prey"}).output, "");
    EXPECT_EQ(evenkeel({"hub", "purge", "prey", "--dry-run"}).exit_code, 0) << "nothing is left";
    EXPECT_EQ(evenkeel({"hub", "rm", "prey", "--yes"}).exit_code, 0);
}

TEST_F(AdminCommands, create_list_and_remove_groups) {
    EXPECT_EQ(evenkeel({"group", "create", "eh1", "billing"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"group", "create", "eh1", "billing"}).exit_code, 6);
    EXPECT_EQ(evenkeel({"group", "create", "eh1", "billing", "--if-not-exists"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"group", "ls", "eh1"}).output, "GROUP\n$Default\nbilling\n");
    EXPECT_EQ(evenkeel({"group", "ls", "eh1", "-o", "name"}).output, "$Default\nbilling\n");
    EXPECT_EQ(parsed(evenkeel({"group", "ls", "eh1", "-o", "json"}).output).at(1).at("name"),
              "billing");
    EXPECT_EQ(evenkeel({"group", "rm", "eh1", "billing"}).exit_code, 2);
    EXPECT_EQ(evenkeel({"group", "rm", "eh1", "billing", "--yes"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"group", "rm", "eh1", "billing", "--yes"}).exit_code, 3);
    EXPECT_EQ(evenkeel({"group", "ls", "nope"}).exit_code, 3);
}

TEST_F(AdminCommands, create_rotate_and_remove_keys) {
    const auto made = evenkeel({"key", "create", "--rights", "send,manage", "app", "-o", "json"});
    ASSERT_EQ(made.exit_code, 0) << made.errors;
    const auto key = parsed(made.output);
    const std::string connection(key.at("primary_connection_string").as_string());
    EXPECT_EQ(evenkeel({"send", "eh1", "x", "--hub", connection}).exit_code, 0);

    const auto list = evenkeel({"key", "ls"});
    EXPECT_TRUE(has(list.output, "app\t\tSend, Listen, Manage\there\n")) << list.output;
    EXPECT_FALSE(has(list.output, std::string(key.at("primary_key").as_string())));
    const auto shown = evenkeel({"key", "show", "app"});
    EXPECT_TRUE(has(shown.output, std::string(key.at("secondary_key").as_string())));

    EXPECT_EQ(evenkeel({"key", "rotate", "app", "--key", "primary"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"send", "eh1", "x", "--hub", connection}).exit_code, 4);
    EXPECT_EQ(evenkeel({"key", "create", "app", "--rights", "send"}).exit_code, 6);
    EXPECT_EQ(evenkeel({"key", "create", "bad", "--rights", "fly"}).exit_code, 2);
    EXPECT_EQ(evenkeel({"key", "rotate", "app"}).exit_code, 2) << "which of the two?";
    EXPECT_EQ(evenkeel({"key", "rm", "app"}).exit_code, 2);
    EXPECT_EQ(evenkeel({"key", "rm", "app", "--yes"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"key", "rm", "app", "--yes"}).exit_code, 3);
    const auto fixed = evenkeel({"key", "rm", "RootManageSharedAccessKey", "--yes"});
    EXPECT_NE(fixed.exit_code, 0);
    EXPECT_TRUE(has(fixed.errors, "configuration")) << fixed.errors;
}

TEST_F(AdminCommands, print_connection_strings_that_work) {
    const auto plain = evenkeel({"conn", "eh1", "--test"});
    EXPECT_EQ(plain.exit_code, 0) << plain.errors;
    EXPECT_EQ(
        plain.output,
        hub_->connection().insert(hub_->connection().find("UseDev"), "EntityPath=eh1;") + ";\n");
    EXPECT_TRUE(has(plain.errors, "it works")) << plain.errors;
    const auto websocket = evenkeel({"conn", "eh1", "--for", "ws", "--test"});
    EXPECT_EQ(websocket.exit_code, 0) << websocket.errors;
    EXPECT_TRUE(has(websocket.output, "TransportType=AmqpWebSockets;"));

    ASSERT_EQ(
        evenkeel({"key", "create", "sensor", "--rights", "send", "--event-hub", "eh1"}).exit_code,
        0);
    const auto sensor = evenkeel({"conn", "eh1", "--key", "sensor", "-o", "json"});
    const std::string connection(parsed(sensor.output).at("connection_string").as_string());
    EXPECT_TRUE(has(connection, "SharedAccessKeyName=sensor;"));
    EXPECT_EQ(evenkeel({"send", "eh1", "x", "--hub", connection}).exit_code, 0);
    EXPECT_EQ(evenkeel({"read", "eh1", "--hub", connection}).exit_code, 4) << "it may only send";
    EXPECT_EQ(evenkeel({"key", "ls", "--hub", connection}).exit_code, 4);
    EXPECT_EQ(evenkeel({"hub", "rm", "eh1", "--yes", "--hub", connection}).exit_code, 4);
    EXPECT_EQ(evenkeel({"conn", "eh1", "--key", "nobody"}).exit_code, 3);
    EXPECT_EQ(evenkeel({"conn", "nope", "--test"}).exit_code, 3);

    const auto environment = fault::run_to_end(
        {"/bin/bash", "-c",
         "eval \"$('" + test::evenkeel_program() + "' conn --env)\"; echo $EVENKEEL_URL"});
    EXPECT_EQ(environment.output, hub_->url() + "\n");
    evenkeel({"key", "rm", "sensor", "--event-hub", "eh1", "--yes"});
}

TEST_F(AdminCommands, check_reports_each_step) {
    const auto good = evenkeel({"check", "eh1", "--rights", "send,listen,manage"});
    EXPECT_EQ(good.exit_code, 0) << good.output;
    for (const auto* step :
         {"connection string", "reach", "admin", "clock", "token", "event hub", "rights"}) {
        EXPECT_TRUE(has(good.output, std::string("OK\t") + step)) << step << good.output;
    }
    const auto missing = evenkeel({"check", "nope"});
    EXPECT_EQ(missing.exit_code, 9);
    EXPECT_TRUE(has(missing.output, "FAIL\tevent hub")) << missing.output;
    EXPECT_TRUE(has(missing.output, "\t'evenkeel hub ls'")) << missing.output;
    const auto refused = evenkeel({"check", "--hub", hub_->connection("TOPSECRET"), "eh1"});
    EXPECT_EQ(refused.exit_code, 9);
    EXPECT_TRUE(has(refused.output, "FAIL\ttoken")) << refused.output;
    EXPECT_FALSE(has(refused.output + refused.errors, "TOPSECRET"));
    const auto no_admin = evenkeel({"check", "eh1", "--url", "http://localhost:1"});
    EXPECT_EQ(no_admin.exit_code, 8) << no_admin.output;
    const auto nobody = evenkeel({"check", "--hub", "amqp://localhost:1/eh1", "-o", "json"});
    EXPECT_EQ(nobody.exit_code, 9);
    EXPECT_EQ(parsed(nobody.output).at(1).at("check"), "reach");
    EXPECT_EQ(parsed(nobody.output).at(1).at("status"), "fail");
    EXPECT_FALSE(parsed(nobody.output).at(1).at("remedy").is_null());
    EXPECT_EQ(evenkeel({"check", "--hub", "nonsense"}).exit_code, 9);
}

}  // namespace
}  // namespace evenkeel::cli_tests
