#include "checkpoint/postgres/error.h"

#include <gtest/gtest.h>

#include "checkpoint/postgres/library.h"

namespace evenkeel::checkpoint {
namespace {

TEST(PostgresError, finds_the_state_in_what_libpq_says) {
    EXPECT_EQ(
        postgres_state_in("connection to server at \"h\" (1.2.3.4), port 5432 failed: FATAL:  "
                          "28P01: password authentication failed for user \"me\"\nLOCATION"),
        "28P01");
    EXPECT_EQ(postgres_state_in("could not translate host name \"h\" to address: Name not known"),
              "");
    EXPECT_EQ(postgres_state_in("FATAL:  later: 28P01"), "");
    EXPECT_EQ(postgres_state_in("FATAL:  28P0"), "");
    EXPECT_EQ(postgres_first_line("a\nb"), "a");
}

TEST(PostgresError, says_what_to_do_and_keeps_the_password) {
    const auto library = PostgresLibrary::load();
    if (!library.ok()) GTEST_SKIP() << to_string(library.error());
    const auto address = PostgresAddress::parse("postgresql://me:hush@h/d");
    ASSERT_TRUE(address);

    const Error wrong = postgres_connect_error(*address, "x failed: FATAL:  28P01: no hush\nL");
    EXPECT_EQ(wrong.code, ErrorCode::not_allowed);
    EXPECT_EQ(wrong.detail,
              "postgresql://h:5432/d: no *** (SQLSTATE 28P01); check user and password (in the "
              "address, PGPASSWORD or ~/.pgpass), and the server's pg_hba.conf");
    EXPECT_EQ(postgres_connect_error(*address, "fe_sendauth: no password supplied\n").code,
              ErrorCode::not_allowed);
    EXPECT_EQ(postgres_connect_error(*address, "no route, hush\n").code, ErrorCode::unavailable);
    EXPECT_EQ(postgres_connect_error(*address, "hush").detail.find("hush"), std::string::npos);
    EXPECT_EQ(postgres_error(*address, "40P01", "deadlock").code, ErrorCode::unavailable);
    EXPECT_EQ(postgres_error(*address, "53300", "too many").code, ErrorCode::overloaded);
    EXPECT_EQ(postgres_error(*address, "42P01", "no table").code, ErrorCode::unsupported);
    EXPECT_EQ(postgres_error(*address, "99999", "what").code, ErrorCode::unavailable);
    EXPECT_TRUE(postgres_ends_connection("57P01"));
    EXPECT_FALSE(postgres_ends_connection("57014"));
}

}  // namespace
}  // namespace evenkeel::checkpoint
