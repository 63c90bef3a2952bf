// `evenkeel deadletter`, in stores of every kind and in a dead-letter hub: the same commands with
// the same answers.
#include <fstream>

#include <boost/json.hpp>

#include "checkpoint/blob/server_fixture.h"
#include "process/cli/process_fixture.h"
#include "support/postgres_server.h"
#include "support/redis_server.h"

namespace evenkeel::cli_tests {
namespace {

enum class Where : unsigned char { sqlite, postgres, redis, blob, hub };

std::string name_of(Where where) {
    switch (where) {
        case Where::sqlite: return "sqlite";
        case Where::postgres: return "postgres";
        case Where::redis: return "redis";
        case Where::blob: return "blob";
        case Where::hub: return "hub";
    }
    return "";
}

// One of each kind for all tests: every test has an event hub of its own.
struct LetterStores {
    // "": there is no such server on this machine, and `why` says so.
    std::string address(Where where, std::string& why) {
        if (where == Where::postgres) {
            if (!postgres) postgres = test::PostgresServer::start(why);
            return postgres ? postgres->url() : "";
        }
        if (where == Where::redis) {
            if (!redis) redis = test::RedisServer::start(why);
            return redis ? redis->url() : "";
        }
        if (!blob) blob = std::make_unique<checkpoint::BlobServer>();
        return "azblob:" + blob->address() + ";Create=true";
    }

    std::unique_ptr<test::PostgresServer> postgres;
    std::unique_ptr<test::RedisServer> redis;
    std::unique_ptr<checkpoint::BlobServer> blob;
};

class DeadLetterCommand : public ProcessTest, public testing::WithParamInterface<Where> {
protected:
    static void SetUpTestSuite() {
        ProcessTest::SetUpTestSuite();
        stores_ = std::make_unique<LetterStores>();
    }
    static void TearDownTestSuite() {
        stores_.reset();
        ProcessTest::TearDownTestSuite();
    }
    void SetUp() override {
        ProcessTest::SetUp();
        std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
        set_name(name.substr(0, name.find('/')) + "-" + name_of(GetParam()));
        if (GetParam() != Where::sqlite && GetParam() != Where::hub) {
            std::string why;
            store_ = stores_->address(GetParam(), why);
            if (store_.empty()) GTEST_SKIP() << why;
        }
        create(2);
        letters_ = "store";
        if (GetParam() != Where::hub) return;
        letters_ = name_ + "-dead";
        ASSERT_EQ(evenkeel({"hub", "create", letters_, "--partitions", "2"}).exit_code, 0);
    }

    // Handles all events but those that contain "bad".
    void process_all() {
        Process running(process({"--exec", "! grep -q bad", "--attempts", "1", "--batch", "1",
                                 "--dead-letter", letters_, "--checkpoint-every", "1"}));
        EXPECT_TRUE(eventually([&] {
            const auto all = partitions();
            return !all.empty() &&
                   std::all_of(all.begin(), all.end(),
                               [](const PartitionStatus& each) { return each.lag_events == 0; });
        })) << status().output;
        running.signal(SIGINT);
        running.wait();
    }
    Outcome deadletter(std::vector<std::string> words) const {
        words.insert(words.begin(), "deadletter");
        words.insert(words.begin() + 2, name_);
        words.insert(words.end(), {"--store", store_, "--dead-letter", letters_});
        return evenkeel(words);
    }
    // "0/1 0/3"
    std::string ids() const {
        const auto listed = deadletter({"ls", "-o", "json"});
        EXPECT_EQ(listed.exit_code, 0) << listed.errors;
        boost::system::error_code error;
        const auto parsed = boost::json::parse(listed.output, error);
        EXPECT_FALSE(error) << listed.output;
        std::string text;
        if (error) return text;
        for (const auto& each : parsed.as_array()) {
            text += (text.empty() ? "" : " ") + std::string(each.at("id").as_string());
        }
        return text;
    }

    static inline std::unique_ptr<LetterStores> stores_;
    std::string letters_;
};

TEST_P(DeadLetterCommand, lists_and_shows_them) {
    send({"-p", "0", "good", "bad 1\x1b[2J", "-P", "room=hall", "--content-type", "text/plain"});
    send({"-p", "1", "bad 2"});
    process_all();

    EXPECT_EQ(ids(), "0/1 1/0");
    const auto table = deadletter({"ls", "--partition", "0"});
    EXPECT_TRUE(has(table.output, "PARTITION\tSEQUENCE\tWHEN\tATTEMPTS\tKEY\tSIZE\tCAUSE\n0\t1\t"))
        << table.output;
    EXPECT_TRUE(has(table.output, "exit code 1")) << table.output;
    EXPECT_TRUE(has(table.errors, "1 dead letter of group")) << table.errors;
    EXPECT_EQ(deadletter({"list", "--cause", "no such cause", "-o", "json"}).output, "[]\n");
    const auto shown = deadletter({"describe", "0/1"});
    EXPECT_TRUE(has(shown.output, "properties.room\thall\n")) << shown.output;
    EXPECT_TRUE(has(shown.output, "content_type\ttext/plain\n")) << shown.output;
    EXPECT_EQ(deadletter({"show", "0/1", "-o", "raw"}).output, "bad 1\x1b[2J");
    EXPECT_EQ(deadletter({"show", "0/7"}).exit_code, 3);
    EXPECT_EQ(deadletter({"show", "7"}).exit_code, 2);
    const auto seen = on_terminal("deadletter show " + name_ + " 0/1 --store '" + store_ +
                                  "' --dead-letter " + letters_);
    EXPECT_TRUE(has(seen.output, "bad 1\\x1b[2J")) << seen.output;
}

TEST_P(DeadLetterCommand, replays_to_key_and_partition) {
    send({"-p", "1", "bad plain", "-P", "room=hall"});
    send({"--key", "k", "bad keyed"});
    process_all();
    const auto before = ids();
    ASSERT_EQ(std::count(before.begin(), before.end(), '/'), 2) << before;

    EXPECT_EQ(deadletter({"replay"}).exit_code, 2) << "which ones must be said";
    EXPECT_EQ(deadletter({"replay", "--all", "--dry-run"}).exit_code, 10);
    EXPECT_EQ(ids(), before);
    const auto replayed = deadletter({"replay", "--all", "-o", "json"});

    EXPECT_EQ(replayed.exit_code, 0) << replayed.errors;
    EXPECT_TRUE(has(replayed.errors, "behind newer events of their partitions")) << replayed.errors;
    EXPECT_EQ(ids(), "");
    const auto read = evenkeel({"read", name_, "-f", "%p %k %v %h\n"});
    const auto once_more = [&](const std::string& line) {
        return read.output.find(line, read.output.find(line) + 1) != std::string::npos;
    };
    EXPECT_TRUE(once_more("1  bad plain room=\"hall\"\n")) << read.output;
    EXPECT_TRUE(once_more(" k bad keyed")) << read.output;
    EXPECT_FALSE(has(read.output, "evenkeel-")) << read.output;
}

TEST_P(DeadLetterCommand, removes_many_only_if_confirmed) {
    send({"-p", "0", "bad 1", "bad 2", "bad 3"});
    process_all();

    EXPECT_EQ(deadletter({"rm", "0/0"}).exit_code, 0);
    EXPECT_EQ(ids(), "0/1 0/2");
    const auto refused = deadletter({"rm", "--all"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_TRUE(has(refused.errors, "--yes")) << refused.errors;
    EXPECT_EQ(ids(), "0/1 0/2");
    EXPECT_EQ(deadletter({"delete", "--cause", "exit code", "--yes"}).exit_code, 0);
    EXPECT_EQ(ids(), "");
}

TEST_P(DeadLetterCommand, asks_unless_an_id_was_given) {
    send({"-p", "0", "bad 1"});
    process_all();

    EXPECT_EQ(deadletter({"rm", "--all"}).exit_code, 2) << "how many they are is not known";
    EXPECT_EQ(deadletter({"rm", "--cause", "exit code"}).exit_code, 2);
    EXPECT_EQ(ids(), "0/0");
}

TEST_P(DeadLetterCommand, shows_one_that_failed_again) {
    send({"-p", "0", "bad 1"});
    process_all();
    ASSERT_EQ(deadletter({"rm", "0/0"}).exit_code, 0);
    ASSERT_EQ(ids(), "");
    ASSERT_EQ(evenkeel({"checkpoint", "set", name_, "--store", store_, "--to", "start", "--force"})
                  .exit_code,
              0);

    process_all();

    EXPECT_EQ(ids(), "0/0");
    EXPECT_EQ(deadletter({"show", "0/0", "-o", "raw"}).output, "bad 1");
}

TEST_P(DeadLetterCommand, reports_an_unknown_event_hub_or_group) {
    const auto with = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "deadletter");
        words.insert(words.end(), {"--store", store_, "--dead-letter", letters_});
        return evenkeel(words);
    };
    send({"-p", "0", "good"});
    process_all();

    EXPECT_EQ(with({"ls", name_}).exit_code, 0) << "it has none";
    for (const auto& command : std::vector<std::vector<std::string>>{
             {"ls"}, {"export"}, {"rm", "--all", "--yes"}, {"replay", "--all"}}) {
        auto hub = command;
        hub.insert(hub.begin() + 1, "no-such-hub");
        auto group = command;
        group.insert(group.begin() + 1, name_);
        group.insert(group.end(), {"--group", "biling"});

        const auto no_hub = with(hub);
        const auto no_group = with(group);

        EXPECT_EQ(no_hub.exit_code, 3) << command[0] << no_hub.errors;
        EXPECT_EQ(no_group.exit_code, 3) << command[0] << no_group.errors;
        EXPECT_TRUE(has(no_group.errors, "has no consumer group 'biling'")) << no_group.errors;
    }
}

TEST_P(DeadLetterCommand, exports_what_send_takes_back) {
    send({"-p", "0", "good", "bad 1", "-P", "n:int=5"});
    process_all();
    const auto exported = deadletter({"export"});
    ASSERT_EQ(exported.exit_code, 0) << exported.errors;
    EXPECT_TRUE(has(exported.output, "\"cause\":")) << exported.output;

    const std::string file = hub_->file(name_ + ".ndjson");
    std::ofstream(file) << exported.output;
    send({"--ndjson", "--keep-partition", "--file", file});

    const auto read = evenkeel({"read", name_, "-p", "0", "-f", "%v %h\n"});
    EXPECT_EQ(read.output, "good n=5\nbad 1 n=5\nbad 1 n=5\n");
}

TEST_P(DeadLetterCommand, are_counted_by_status) {
    send({"-p", "1", "bad 1", "good", "bad 2"});
    process_all();
    const auto status_with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"status", name_, "--store", store_});
        return evenkeel(more);
    };

    const auto counted = status_with({"--dead-letter", letters_});
    const auto json = status_with({"--dead-letter", letters_, "-o", "json"});

    EXPECT_EQ(counted.exit_code, 0) << counted.errors;
    const bool in_hub = GetParam() == Where::hub;
    EXPECT_TRUE(has(counted.errors, in_hub ? "2 dead letters in the dead-letter hub; 'evenkeel "
                                             "deadletter ls "
                                           : "2 dead letters; 'evenkeel deadletter ls "))
        << counted.errors;
    EXPECT_EQ(has(counted.errors, "--dead-letter " + letters_ + "' lists them"), in_hub)
        << counted.errors;
    const auto parsed = boost::json::parse(json.output);
    EXPECT_EQ(parsed.at("dead_letters").as_int64(), 2) << json.output;
    EXPECT_EQ(parsed.at("partitions").at(0).at("dead_letters").as_int64(), 0) << json.output;
    EXPECT_EQ(parsed.at("partitions").at(1).at("dead_letters").as_int64(), 2) << json.output;
    ASSERT_EQ(deadletter({"rm", "1/0"}).exit_code, 0);
    EXPECT_TRUE(has(status_with({"--dead-letter", letters_}).errors, "1 dead letter"));
    const auto missing = status_with({"--dead-letter", "no-such-hub"});
    EXPECT_EQ(missing.exit_code, 3) << missing.errors;
    EXPECT_TRUE(has(missing.errors, "no-such-hub")) << missing.errors;
}

INSTANTIATE_TEST_SUITE_P(Places, DeadLetterCommand,
                         testing::Values(Where::sqlite, Where::postgres, Where::redis, Where::blob,
                                         Where::hub),
                         [](const auto& place) { return name_of(place.param); });

class DeadLetterStatus : public ProcessTest {};

TEST_F(DeadLetterStatus, counts_by_partition) {
    create(2);
    send({"-p", "1", "bad 1", "bad 2"});
    Process running(process(
        {"--exec", "! grep -q bad", "--attempts", "1", "--batch", "1", "--checkpoint-every", "1"}));
    EXPECT_TRUE(eventually([&] { return has(status().output, "\"dead_letters\": 2"); }));
    running.signal(SIGINT);
    running.wait();
    const std::string errors = running.rest_of_errors();

    const auto table = evenkeel({"status", name_, "--store", store_});
    EXPECT_TRUE(has(table.errors, "2 dead letters; 'evenkeel deadletter ls " + name_))
        << table.errors;
    EXPECT_TRUE(has(table.output, "DEAD")) << table.output;
    EXPECT_TRUE(has(errors, "dead letter: handler_failed: event 0 failed 1 time: ")) << errors;
    EXPECT_TRUE(has(errors, "event 1 failed 1 time: ")) << errors;
}

class StoreOption : public ProcessTest {};

// Commands that share an option must not take another one's store.
TEST_F(StoreOption, wins_over_the_environment) {
    create(1);
    send({"bad"});
    Process running(process({"--exec", "! grep -q bad", "--attempts", "1"}));
    EXPECT_TRUE(eventually([&] { return has(status().output, "\"dead_letters\": 1"); }));
    running.signal(SIGINT);
    running.wait();
    setenv("EVENKEEL_STORE", ("sqlite:" + hub_->file("another.db")).c_str(), 1);

    const auto letters = evenkeel({"deadletter", "ls", name_, "--store", store_});
    const auto missing = evenkeel({"deadletter", "ls", name_});
    unsetenv("EVENKEEL_STORE");

    EXPECT_TRUE(has(letters.errors, "1 dead letter of")) << letters.errors;
    EXPECT_EQ(missing.exit_code, 3);
    EXPECT_TRUE(has(missing.errors, "another.db")) << missing.errors;
}

}  // namespace
}  // namespace evenkeel::cli_tests
