#include "checkpoint/postgres/schema.h"

#include <chrono>

#include "checkpoint/postgres/postgres_fixture.h"
#include "io/system/loop.h"
#include "support/golden.h"

namespace evenkeel::checkpoint {
namespace {

using namespace std::chrono_literals;

struct PostgresSchema : WithPostgres {
    std::unique_ptr<PostgresConnection> connect(const std::string& url) {
        addresses.push_back(std::make_unique<PostgresAddress>(*PostgresAddress::parse(url)));
        auto connection =
            PostgresConnection::connect(*addresses.back(), {clock, never, 60s}, clock.now() + 60s);
        EXPECT_TRUE(connection) << to_string(connection.error());
        return std::move(*connection);
    }
    Result<> prepare(PostgresConnection& connection) {
        return prepare_postgres_schema(connection, *addresses.back(), clock.now() + 60s);
    }

    const SystemClock clock{};
    const std::atomic<bool> never = false;
    std::vector<std::unique_ptr<PostgresAddress>> addresses;
};

TEST_F(PostgresSchema, many_who_come_first_at_once_make_it_once) {
    constexpr int count = 6;
    std::vector<std::unique_ptr<PostgresConnection>> connections;
    for (int i = 0; i < count; ++i) connections.push_back(connect(server->url()));
    std::atomic<int> succeeded = 0;

    {
        std::vector<std::unique_ptr<io::system::WorkerThread>> threads;
        for (auto& connection : connections) {
            threads.push_back(std::make_unique<io::system::WorkerThread>("first"));
            threads.back()->post([&] {
                const auto prepared = prepare(*connection);
                EXPECT_TRUE(prepared) << to_string(prepared.error());
                succeeded += prepared.ok();
            });
        }
    }

    EXPECT_EQ(succeeded, count);
    const auto version =
        connections[0]->execute("SELECT version FROM evenkeel.schema_version", clock.now() + 60s);
    ASSERT_TRUE(version);
    EXPECT_EQ(version->size(), 1);
    EXPECT_EQ(version->integer(0, 0), postgres_schema_version);
}

// A change of the schema is a new version: older programs would fail on it, or not know of it.
TEST_F(PostgresSchema, of_version_1_has_the_tables_and_functions_of_then) {
    const auto connection = connect(server->url());
    ASSERT_TRUE(prepare(*connection));
    const auto lines = [&](const std::string& query) {
        const auto rows = connection->execute(query, clock.now() + 60s);
        EXPECT_TRUE(rows) << to_string(rows.error());
        std::string text;
        for (int row = 0; row < rows->size(); ++row) {
            text += (row == 0 ? "" : "\n") + rows->text(row, 0);
        }
        return text;
    };

    auto golden = test::golden_texts("postgresql_v1");

    EXPECT_EQ(lines("SELECT c.relname || '.' || a.attname || ' ' ||"
                    " format_type(a.atttypid, a.atttypmod) ||"
                    " CASE WHEN a.attnotnull THEN '' ELSE ' or null' END"
                    " FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
                    " WHERE c.relnamespace = 'evenkeel'::regnamespace AND c.relkind = 'r'"
                    " AND a.attnum > 0 ORDER BY c.relname COLLATE \"C\", a.attnum"),
              golden["columns"]);
    EXPECT_EQ(lines("SELECT p.proname || '(' || pg_get_function_identity_arguments(p.oid) ||"
                    " ') ' || pg_get_function_result(p.oid) FROM pg_proc p"
                    " WHERE p.pronamespace = 'evenkeel'::regnamespace"
                    " ORDER BY p.proname COLLATE \"C\""),
              golden["functions"]);
}

TEST_F(PostgresSchema, another_version_is_refused_and_left_alone) {
    const auto connection = connect(server->url());
    ASSERT_TRUE(prepare(*connection));
    ASSERT_TRUE(server->run("UPDATE evenkeel.schema_version SET version = 99"));

    const auto refused = prepare(*connection);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_NE(refused.error().detail.find("it is 99, this program knows 1"), std::string::npos)
        << refused.error().detail;
}

TEST_F(PostgresSchema, is_usable_without_the_right_to_create_it) {
    ASSERT_TRUE(server->run("DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN"));
    std::string url = server->url();
    url.replace(url.find("evenkeel@"), 9, "guest@");
    const auto guest = connect(url);

    const auto refused = prepare(*guest);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::not_allowed) << refused.error().detail;
    EXPECT_NE(refused.error().detail.find("GRANT CREATE ON DATABASE"), std::string::npos);
    ASSERT_TRUE(server->run("DROP SCHEMA IF EXISTS evenkeel CASCADE"));
    ASSERT_TRUE(prepare(*connect(server->url())));
    ASSERT_TRUE(server->run(
        "GRANT USAGE ON SCHEMA evenkeel TO guest;"
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA evenkeel TO guest"));
    EXPECT_TRUE(prepare(*guest)) << "it needs to create nothing";
    const auto group = guest->execute("SELECT evenkeel.group_id('a', 'b', 'c')", clock.now() + 60s);
    EXPECT_TRUE(group) << to_string(group.error());
    ASSERT_TRUE(server->run("DROP SCHEMA evenkeel CASCADE; DROP ROLE guest"));
}

TEST_F(PostgresSchema, a_schema_of_that_name_with_nothing_in_it_is_used) {
    ASSERT_TRUE(server->run("CREATE SCHEMA evenkeel"));
    const auto connection = connect(server->url());
    const auto prepared = prepare(*connection);
    EXPECT_TRUE(prepared) << to_string(prepared.error());
}

TEST_F(PostgresSchema, a_schema_filled_by_another_tool_is_refused) {
    ASSERT_TRUE(server->run("CREATE SCHEMA evenkeel; CREATE TABLE evenkeel.member (name text)"));
    const auto connection = connect(server->url());

    const auto refused = prepare(*connection);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported) << refused.error().detail;
    const auto left = connection->execute("SELECT * FROM evenkeel.member", clock.now() + 60s);
    EXPECT_TRUE(left) << "and it is as it was";
}

}  // namespace
}  // namespace evenkeel::checkpoint
