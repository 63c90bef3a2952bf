#include "checkpoint/postgres/address.h"

#include <gtest/gtest.h>

#include "checkpoint/postgres/library.h"

namespace evenkeel::checkpoint {
namespace {

struct PostgresAddressText : testing::Test {
    void SetUp() override {
        const auto library = PostgresLibrary::load();
        if (!library.ok()) GTEST_SKIP() << to_string(library.error());
    }
};

TEST_F(PostgresAddressText, shows_neither_user_nor_password_nor_options) {
    const auto address = PostgresAddress::parse(
        "postgresql://me:s3cret%40@db.example.org:5433/progress?sslmode=require");
    ASSERT_TRUE(address) << to_string(address.error());
    EXPECT_EQ(address->shown(), "postgresql://db.example.org:5433/progress");
    EXPECT_EQ(address->option("password"), "s3cret@");
    EXPECT_EQ(address->option("sslmode"), "require");
    EXPECT_EQ(address->option("service"), "");
    EXPECT_EQ(address->without_secrets("user me, s3cret@, s3cret@"), "user me, ***, ***");
}

TEST_F(PostgresAddressText, parts_may_be_left_out) {
    EXPECT_EQ(PostgresAddress::parse("postgresql://h/d")->shown(), "postgresql://h:5432/d");
    EXPECT_EQ(PostgresAddress::parse("postgres://a:1,b:2/d")->shown(), "postgresql://a,b:1,2/d");
    EXPECT_EQ(PostgresAddress::parse("postgresql:///d?host=/run")->shown(),
              "postgresql:///run:5432/d");
}

TEST_F(PostgresAddressText, what_cannot_be_read_is_not_repeated) {
    for (const char* bad :
         {"postgresql://me:sec/ret@host/db", "postgresql://me:secret@host:port/db",
          "postgresql://me:secret@host/db?secret=1", "postgresql://me:secret%zz@host/db",
          "postgresql://me:secret@[::1/db"}) {
        const auto address = PostgresAddress::parse(bad);
        ASSERT_FALSE(address) << bad;
        EXPECT_EQ(address.error().code, ErrorCode::invalid_argument);
        EXPECT_EQ(address.error().detail.find("sec"), std::string::npos) << address.error().detail;
        EXPECT_NE(address.error().detail.find("%40"), std::string::npos) << "no remedy";
    }
}

}  // namespace
}  // namespace evenkeel::checkpoint
